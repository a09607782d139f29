import { assertNever } from '../../base/assert.ts';
import type { LoadedUpgrades, MissedPage, UpgradePage } from '../../orchestrator/ports/rollout-store.ts';
import { isFailed, type Upgrade } from '../../rollout/model/upgrade.ts';
import { pairsOf, rangeBound } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { countOf, parseCounters } from '../schema/counter-fields.ts';
import { waveOfOrderScore, waveSpan } from '../schema/plan-place.ts';
import type { RolloutKeys } from '../schema/rollout-keys.ts';
import { decodeUpgrade } from '../schema/stored-upgrade.ts';
import { readRecords } from './packed-records.ts';
import type { ReadableRollout } from './store-context.ts';

// Records per read: a few hundred KB.
const recordsPerRead = 1_000;

/** A page of records in plan order. With a state or a wave, the plan is read in chunks until the page is full. */
export async function listUpgrades(
  commands: RedisCommands,
  rollout: ReadableRollout,
  page: UpgradePage,
): Promise<readonly Upgrade[]> {
  const { keys } = rollout;
  const { offset, limit, state, wave } = page;
  if (limit <= 0) return [];
  if (state === 'pending') {
    const [from, to] = wave === undefined ? ['-inf', '+inf'] : [wave * waveSpan, `(${(wave + 1) * waveSpan}`];
    const ids = await commands.zrangebyscore(
      keys.pending,
      from,
      to,
      'LIMIT',
      rangeBound(offset),
      rangeBound(limit),
    );
    // The record was read after the index, and may have left the state in between.
    return (await readUpgrades(commands, rollout, ids)).filter((record) => record.progress.state === state);
  }
  if (state !== undefined || wave !== undefined) return scan(commands, rollout, page);
  const ids = await commands.zrange(
    keys.order,
    String(rangeBound(offset)),
    String(rangeBound(offset + limit - 1)),
  );
  return readUpgrades(commands, rollout, ids);
}

/**
 * Lists failed or withdrawn upgrades, newest first, or retrying ones, earliest due first. It uses an index, so the size of
 * the plan does not matter.
 */
export async function listMissed(
  commands: RedisCommands,
  rollout: ReadableRollout,
  { kind, limit }: MissedPage,
  decode: typeof decodeUpgrade,
): Promise<readonly Upgrade[]> {
  if (limit <= 0) return [];
  const ids = await missedIds(commands, rollout.keys, { kind, limit });
  const { upgrades } = await loadUpgrades(commands, rollout, ids, decode);
  // The record was read after the index, and may have left the state in between.
  return upgrades.filter(({ progress: { state } }) => (kind === 'failed' ? isFailed(state) : state === kind));
}

async function missedIds(
  commands: RedisCommands,
  { missed, retries }: RolloutKeys,
  { kind, limit }: MissedPage,
): Promise<readonly string[]> {
  switch (kind) {
    case 'failed':
      return commands.zrevrangebyscore(missed, '+inf', '(0', 'LIMIT', 0, rangeBound(limit));
    case 'withdrawn':
      return commands.zrangebyscore(missed, '-inf', '(0', 'LIMIT', 0, rangeBound(limit));
    case 'retrying': {
      const members = await commands.zrange(retries, '0', String(rangeBound(limit - 1)));
      return members.map((member) => member.slice(0, member.indexOf(':')));
    }
    default:
      return assertNever(kind);
  }
}

/** The records of these collectors, in this order, without those that are not in the rollout. */
async function readUpgrades(
  commands: RedisCommands,
  rollout: ReadableRollout,
  collectorIds: ReadonlyArray<string | number>,
): Promise<readonly Upgrade[]> {
  return (await loadUpgrades(commands, rollout, collectorIds)).upgrades;
}

/** Like `readUpgrades`, with the ids of unreadable records. */
export async function loadUpgrades(
  commands: RedisCommands,
  { id, keys, version, broken }: ReadableRollout,
  collectorIds: ReadonlyArray<string | number>,
  decode: typeof decodeUpgrade = decodeUpgrade,
): Promise<LoadedUpgrades> {
  const upgrades: Upgrade[] = [];
  const unreadable: number[] = [];
  for (let from = 0; from < collectorIds.length; from += recordsPerRead) {
    const ids = collectorIds.slice(from, from + recordsPerRead);
    const texts = await readRecords(commands, keys, ids.map(String), broken);
    for (const [index, text] of texts.entries()) {
      if (text === null) continue;
      const collectorId = ids[index] ?? 0;
      const upgrade = broken.read(() => decode(text, { rolloutId: id, version }, collectorId));
      if (upgrade === undefined) unreadable.push(Number(collectorId));
      else upgrades.push(upgrade);
    }
  }
  return { upgrades, unreadable };
}

async function scan(
  commands: RedisCommands,
  rollout: ReadableRollout,
  page: UpgradePage,
): Promise<readonly Upgrade[]> {
  const { keys } = rollout;
  const { offset, limit, state, wave } = page;
  const counters = parseCounters(Object.entries(await commands.hgetall(keys.counters)));
  // The counters give the number of matches, so the scan ends at the last one, and not at the end of the plan.
  const wanted = Math.min(offset + limit, countOf(counters, { state, wave }));
  if (wanted <= offset) return [];
  const found: Upgrade[] = [];
  const planned = await commands.zcard(keys.order);
  let passed = 0;
  for (let from = 0; from < planned && passed < wanted; from += recordsPerRead) {
    const ids = await idsOfWave(commands, keys, { from, wave });
    if (state === undefined) {
      // All members of the wave match, so those before the page need not be read.
      const onPage = ids.slice(Math.max(0, offset - passed), Math.max(0, wanted - passed));
      passed += ids.length;
      found.push(...(await readUpgrades(commands, rollout, onPage)));
      continue;
    }
    for (const record of await readUpgrades(commands, rollout, ids)) {
      if (record.progress.state !== state) continue;
      passed += 1;
      if (passed > offset && passed <= wanted) found.push(record);
    }
  }
  return found;
}

/** One chunk of the plan, reduced to the members of the wave. */
async function idsOfWave(
  commands: RedisCommands,
  keys: RolloutKeys,
  chunk: { readonly from: number; readonly wave: number | undefined },
): Promise<readonly string[]> {
  const { from, wave } = chunk;
  const placed = await commands.zrange(
    keys.order,
    String(from),
    String(from + recordsPerRead - 1),
    'WITHSCORES',
  );
  return pairsOf(placed).flatMap(([id, score]) =>
    wave === undefined || waveOfOrderScore(Number(score)) === wave ? [id] : [],
  );
}
