import type { EpochMs } from '../../base/time.ts';
import type { RolloutsPage } from '../../orchestrator/ports/rollout-store.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { Rollout, UnreadableRecord } from '../../rollout/model/rollout.ts';
import { isRolloutId, parseRolloutId } from '../../rollout/model/rollout-id.ts';
import { makeStandIn } from '../../rollout/planning/stand-in-rollout.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { policyKeys, rolloutKeys } from '../schema/rollout-keys.ts';
import { decodeRollout, rolloutName, type StoredRollout } from '../schema/stored-rollout.ts';
import type { BrokenRecords } from '../schema/unreadable-records.ts';
import { loadRemains } from './load-stand-in.ts';
import { packRecords, packsDone } from './packed-records.ts';

export interface KeptRollouts {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  /** Takes reports of what is unreadable. */
  readonly broken: BrokenRecords;
  /** The newest version of records that can be read. */
  readonly version: number;
  /** Of the config: for a rollout whose own record is unreadable. */
  readonly policies: readonly Policy[];
}

// A policy that is scanned every 15 minutes, and starts a rollout each time, makes this many in ten days.
export const rolloutsListedMax = 1_000;

/** One whose own record is unreadable is what is known beside it. */
export async function loadRollout(kept: KeptRollouts, rolloutId: string): Promise<Rollout | undefined> {
  const key = rolloutKeys(kept.keyPrefix, rolloutId).rollout;
  const [json, rev, v] = await kept.commands.hmget(key, 'json', 'rev', 'v');
  if (typeof rev !== 'string') return undefined;
  return readRollout(kept, rolloutId, { json: json ?? '', rev, v: v ?? null });
}

/** The same of what was read of it already. */
export async function readRollout(
  kept: KeptRollouts,
  rolloutId: string,
  stored: StoredRollout,
): Promise<Rollout | undefined> {
  const rollout = kept.broken.read(() => decodeRollout(stored, rolloutId, kept.version));
  if (rollout !== undefined) {
    kept.broken.forget(rolloutName(rolloutId));
    return rollout;
  }
  const remains = await loadRemains(kept, rolloutId, problemOf(kept, stored));
  if (remains === undefined) return undefined;
  return makeStandIn(remains, kept.policies);
}

function problemOf({ version }: KeptRollouts, { json, v }: StoredRollout): UnreadableRecord {
  const written = Number(v ?? 1);
  return written > version
    ? { kind: 'newer', version: written, readable: version }
    : { kind: 'corrupt', text: json };
}

/** The kept rollouts of a policy, newest first, rollbacks among them. */
export async function listKept(kept: KeptRollouts, policy: string): Promise<readonly Rollout[]> {
  const key = policyKeys(kept.keyPrefix, policy).rollouts;
  const ids = await kept.commands.zrevrange(key, 0, rolloutsListedMax - 1);
  const rollouts = await Promise.all(ids.map((id) => loadRollout(kept, id)));
  return rollouts.filter((rollout) => rollout !== undefined);
}

// Two may be running, and a few of the others have expired and are still named.
const newestRead = 8;

/** The active ones of a policy, its last that has ended, and what belongs to these by a rollback. */
export async function listCurrent(
  kept: KeptRollouts,
  policy: string,
  active: Promise<readonly string[]>,
): Promise<readonly Rollout[]> {
  const { rollouts: key } = policyKeys(kept.keyPrefix, policy);
  // Side by side: a person waits for each round trip, and so does Prometheus.
  const [activeIds, newest] = await Promise.all([active, kept.commands.zrevrange(key, 0, newestRead - 1)]);
  const [latest, ...earlier] = newest.filter((id) => !activeIds.includes(id));
  const found = await Promise.all(
    [...activeIds, ...(latest === undefined ? [] : [latest])].map((id) => loadRollout(kept, id)),
  );
  for (const id of earlier) {
    if (found.length > activeIds.length && found.at(-1) !== undefined) break;
    found.push(await loadRollout(kept, id));
  }
  const current = new Map(found.flatMap((rollout) => (rollout === undefined ? [] : [[rollout.id, rollout]])));
  const related = [...current.values()].flatMap(({ rollbackId, rollbackOf }) => [rollbackId, rollbackOf]);
  for (const id of related) {
    if (id === null || current.has(id)) continue;
    const rollout = await loadRollout(kept, id);
    if (rollout !== undefined) current.set(id, rollout);
  }
  return [...current.values()];
}

// Of one policy, at one millisecond: a rollout and its rollback, where clocks differ.
const tiesMax = 8;

/** A page over all these policies, newest first; undefined: `before` is not kept. */
export async function pageKept(
  kept: KeptRollouts,
  policies: readonly string[],
  { before, limit }: RolloutsPage,
): Promise<{ readonly rollouts: readonly Rollout[]; readonly next: string | null } | undefined> {
  const { commands, keyPrefix } = kept;
  const from = before === undefined ? undefined : await placeOf(kept, before);
  if (before !== undefined && from === undefined) return undefined;
  const read = limit + 1 + tiesMax;
  const lists = await Promise.all(
    policies.map((policy) => {
      const { rollouts: key } = policyKeys(keyPrefix, policy);
      return commands.zrevrangebyscore(
        key,
        from?.createdAt ?? '+inf',
        '-inf',
        'WITHSCORES',
        'LIMIT',
        0,
        read,
      );
    }),
  );
  const places = lists
    .flatMap(parsePlaces)
    .filter((place) => from === undefined || newestFirst(from, place) < 0)
    .sort(newestFirst);
  const page = places.slice(0, limit);
  const rollouts = await Promise.all(page.map(({ id }) => loadRollout(kept, id)));
  return {
    rollouts: rollouts.filter((rollout) => rollout !== undefined),
    next: places.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}

interface Place {
  readonly id: string;
  readonly createdAt: EpochMs;
}

/** Newest first; of one instant, by id, so that pages neither skip nor repeat one. */
export function newestFirst(a: Place, b: Place): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}

async function placeOf({ commands, keyPrefix }: KeptRollouts, id: string): Promise<Place | undefined> {
  if (!isRolloutId(id)) return undefined;
  const score = await commands.zscore(policyKeys(keyPrefix, parseRolloutId(id).policy).rollouts, id);
  return score === null ? undefined : { id, createdAt: Number(score) };
}

function parsePlaces(reply: readonly string[]): readonly Place[] {
  return reply.flatMap((id, at) => (at % 2 === 0 ? [{ id, createdAt: Number(reply[at + 1]) }] : []));
}

/** Packs what ended before an instant and is not packed yet, newest first. */
export async function packEnded(
  kept: KeptRollouts,
  policies: readonly string[],
  { endedBefore, signal }: { readonly endedBefore: EpochMs; readonly signal: AbortSignal },
): Promise<void> {
  for (const policy of policies) {
    const { rollouts: key } = policyKeys(kept.keyPrefix, policy);
    for (const id of await kept.commands.zrevrange(key, 0, rolloutsListedMax - 1)) {
      if (signal.aborted) return;
      const keys = rolloutKeys(kept.keyPrefix, id);
      const [ended, isPacked] = await Promise.all([
        kept.commands.hget(keys.rollout, 'ended'),
        kept.commands.hexists(keys.packed, packsDone),
      ]);
      if (ended !== '1' || isPacked === 1) continue;
      const rollout = await loadRollout(kept, id);
      if (rollout === undefined || rollout.endedAt === null || rollout.unreadable !== undefined) continue;
      if (rollout.endedAt < endedBefore) await packRecords(kept.commands, keys, signal);
    }
  }
}

/** Takes rollouts whose keys have expired out of the policy's list; the eldest go first, so that none stays. */
export async function forgetExpired(
  { commands, keyPrefix }: Pick<KeptRollouts, 'commands' | 'keyPrefix'>,
  policy: string,
): Promise<void> {
  const { rollouts } = policyKeys(keyPrefix, policy);
  const old = await commands.zrange(rollouts, '0', String(rolloutsListedMax - 1));
  const kept = await Promise.all(old.map((id) => commands.exists(rolloutKeys(keyPrefix, id).rollout)));
  const gone = old.filter((_id, index) => kept[index] === 0);
  if (gone.length > 0) await commands.zrem(rollouts, ...gone);
}
