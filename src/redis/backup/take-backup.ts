import { invariant } from '../../base/assert.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RedisConnection } from '../connection/connection.ts';
import { type PolicyKeys, parseRolloutId, policyKeys, rolloutKeys } from '../schema/rollout-keys.ts';
import type { BackupPart } from './backup-lines.ts';
import { findKeptKeys } from './kept-keys.ts';
import { type KeyContent, readKeys, valuesPerItem } from './read-keys.ts';

interface Source {
  readonly connection: RedisConnection;
  readonly keyPrefix: string;
}

// A line is a few hundred KB.
const itemsPerPart = 500;

// Between two commands a rollout may begin or end; that often in a row it is something else.
const triesMax = 10;

/**
 * Reads an installation's state key by key. Daemons may work meanwhile: each rollout is read at one instant, a
 * policy's active ones together with what names them, so that nothing in it contradicts another part.
 */
export async function* takeBackup(source: Source): AsyncGenerator<BackupPart> {
  const { connection, keyPrefix } = source;
  const keys = await findKeptKeys(connection, keyPrefix);
  const rollouts = rolloutIdsOf(keys);
  const ofRollouts = new Set(rollouts.flatMap((id) => keyListOf(keyPrefix, id)));
  const others = new Map<string, string[]>();
  for (const key of keys) {
    if (ofRollouts.has(key)) continue;
    const ofTag = others.get(tagOf(key));
    if (ofTag === undefined) others.set(tagOf(key), [key]);
    else ofTag.push(key);
  }
  const policies = new Map(
    rollouts.map((id) => [tagOf(rolloutKeys(keyPrefix, id).rollout), parseRolloutId(id).policy]),
  );
  for (const tag of new Set([...others.keys(), ...policies.keys()])) {
    const policy = policies.get(tag);
    const keysOfTag = others.get(tag) ?? [];
    if (policy === undefined) yield* partsOf(await readKeys(connection, keysOfTag));
    else {
      const ids = rollouts.filter((id) => parseRolloutId(id).policy === policy);
      yield* readPolicy(source, { keys: policyKeys(keyPrefix, policy), ids, others: keysOfTag });
    }
  }
}

interface Policy {
  readonly keys: PolicyKeys;
  /** Its rollouts. */
  readonly ids: readonly string[];
  readonly others: readonly string[];
}

/** Rollouts that are over first, then those on their way with the keys that say so. */
async function* readPolicy(source: Source, policy: Policy): AsyncGenerator<BackupPart> {
  const { connection, keyPrefix } = source;
  const before = new Set(await activeIds(source, policy));
  const unended: string[] = [];
  for (const id of policy.ids) {
    if (before.has(id)) continue;
    const contents = await readKeys(connection, keyListOf(keyPrefix, id));
    if (isEnded(contents, keyPrefix, id)) yield* partsOf(contents);
    else unended.push(id);
  }
  const active = await readActive(source, policy);
  yield* partsOf(active.contents);
  // Passed over so far: those that ended, or were opened and ended, meanwhile.
  const again = [...before, ...unended].filter((id) => !active.ids.includes(id));
  for (const id of new Set(again)) yield* partsOf(await readEnded(source, id));
}

/** The active rollouts at one instant with the keys that name them. */
async function readActive(
  source: Source,
  policy: Policy,
): Promise<{ readonly ids: readonly string[]; readonly contents: readonly KeyContent[] }> {
  const { connection, keyPrefix } = source;
  const { active, rollouts, fence } = policy.keys;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const ids = await activeIds(source, policy);
    const named = [active.upgrade, active.rollback, rollouts, fence];
    const keys = new Set([...policy.others, ...named, ...ids.flatMap((id) => keyListOf(keyPrefix, id))]);
    const contents = await readKeys(connection, [...keys]);
    const values = contents.flatMap(({ key, values }) =>
      key === active.upgrade || key === active.rollback ? values : [],
    );
    if (values.length === ids.length && values.every((id) => ids.includes(id))) return { ids, contents };
  }
  throw new Error('the active rollouts changed again and again while they were read');
}

async function readEnded({ connection, keyPrefix }: Source, id: string): Promise<readonly KeyContent[]> {
  const contents = await readKeys(connection, keyListOf(keyPrefix, id));
  if (isEnded(contents, keyPrefix, id)) return contents;
  throw new Error(`rollout ${id} was opened again while it was read; take the backup again`);
}

async function activeIds({ connection }: Source, { keys }: Policy): Promise<readonly string[]> {
  const ids = await connection.commands.mget(keys.active.upgrade, keys.active.rollback);
  return ids.filter((id) => id !== null);
}

/** One whose keys have expired is over, too. */
function isEnded(contents: readonly KeyContent[], keyPrefix: string, id: string): boolean {
  const { rollout } = rolloutKeys(keyPrefix, id);
  const fields = contents.find(({ key }) => key === rollout)?.values;
  const at = fields?.findIndex((text, index) => index % 2 === 0 && text === 'ended') ?? -1;
  return fields === undefined || (at >= 0 && fields[at + 1] === '1');
}

function* partsOf(contents: readonly KeyContent[]): Generator<BackupPart> {
  const now: EpochMs = Date.now();
  for (const { key, type, leftMs, values } of contents) {
    const expiresAt = leftMs === null ? null : now + leftMs;
    const size = itemsPerPart * valuesPerItem[type];
    for (let from = 0; from < values.length; from += size) {
      const piece = values.slice(from, from + size);
      yield { kind: 'part', key, type, expiresAt, values: piece };
    }
  }
}

function keyListOf(keyPrefix: string, id: string): readonly string[] {
  return Object.values(rolloutKeys(keyPrefix, id));
}

/** Ids of rollouts by the keys that hold them. */
function rolloutIdsOf(keys: readonly string[]): readonly string[] {
  return keys.flatMap((key) => {
    const id = /\{[^}]*\}:([^:]+):rollout$/.exec(key)?.[1];
    return id === undefined ? [] : [id];
  });
}

function tagOf(key: string): string {
  const tag = /\{[^}]*\}/.exec(key)?.[0];
  invariant(tag !== undefined, `${key} has no hash tag`);
  return tag;
}
