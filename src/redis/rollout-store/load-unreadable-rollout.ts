import { textOf } from '../../rollout/decision/unreadable-upgrades.ts';
import { type RolloutState, rolloutStates } from '../../rollout/model/rollout.ts';
import type { RolloutRemains } from '../../rollout/planning/rebuild-rollout.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { parseCounters, waveCountOf, waveSummaryOf } from '../schema/counter-fields.ts';
import { parseRolloutId, policyKeys, rolloutKeys } from '../schema/rollout-keys.ts';
import type { BrokenRecords } from '../schema/unreadable-records.ts';
import { listUpgrades } from './list-upgrades.ts';

// Enough to tell which builds it is about.
const upgradesReadMax = 100;

/**
 * Reads what is kept beside a rollout's own record, which can't be read. Not of one instant: it is shown, and what is
 * saved from it is refused when the rollout has changed meanwhile.
 * @returns undefined when the rollout is gone
 */
export async function loadRemains(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string; readonly broken: BrokenRecords },
  id: string,
  text: string,
): Promise<RolloutRemains | undefined> {
  const { commands, keyPrefix, broken } = redis;
  const keys = rolloutKeys(keyPrefix, id);
  const { policy, yyyymmdd } = parseRolloutId(id);
  const ofPolicy = policyKeys(keyPrefix, policy);
  const [fields, activeRollback, createdAt, counted, upgrades] = await Promise.all([
    commands.hmget(keys.rollout, 'rev', 'state', 'frontier', 'ended'),
    commands.get(ofPolicy.active.rollback),
    commands.zscore(ofPolicy.rollouts, id),
    commands.hgetall(keys.counters),
    listUpgrades(commands, { id, keys, broken }, { offset: 0, limit: upgradesReadMax }),
  ]);
  const [rev, state, frontier, ended] = fields;
  if (typeof rev !== 'string') return undefined;
  const counters = parseCounters(Object.entries(counted).flat());
  // One that is over has no place any more that tells.
  const isRollback = activeRollback === id || (ended === '1' && textOf(text, 'kind') === 'rollback');
  return {
    id,
    kind: isRollback ? 'rollback' : 'upgrade',
    rev: Number(rev),
    state: isRolloutState(state) ? state : undefined,
    isOver: ended === '1',
    createdAt: createdAt === null ? dayOf(yyyymmdd) : Number(createdAt),
    frontier: Number(frontier ?? '-1'),
    waves: Array.from({ length: waveCountOf(counters) }, (_wave, index) => waveSummaryOf(counters, index)),
    upgrades,
    text,
  };
}

function isRolloutState(text: string | null | undefined): text is RolloutState {
  return (rolloutStates as readonly unknown[]).includes(text);
}

/** Its first instant, in UTC. */
function dayOf(yyyymmdd: string): number {
  return Date.UTC(Number(yyyymmdd.slice(0, 4)), Number(yyyymmdd.slice(4, 6)) - 1, Number(yyyymmdd.slice(6)));
}
