import { type RolloutState, rolloutStates, type UnreadableRecord } from '../../rollout/model/rollout.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import type { PartialRollout } from '../../rollout/planning/stand-in-rollout.ts';
import { parseCounters, waveCountOf, waveSummaryOf } from '../schema/counter-fields.ts';
import { decodeMarks } from '../schema/stored-rollout.ts';
import type { StoreContext } from './store-context.ts';

/**
 * Reads the other records of a rollout whose own record is unreadable. They may not be of one instant: they are for display,
 * and a save based on them is refused when the rollout has changed meanwhile.
 * @returns undefined when the rollout is gone
 */
export async function loadRemains(
  { commands, ofPolicy, ofRollout }: StoreContext,
  id: string,
  problem: UnreadableRecord,
): Promise<PartialRollout | undefined> {
  const { keys } = ofRollout(id);
  const { policy, yyyymmdd } = parseRolloutId(id);
  const [fields, createdAt, counted] = await Promise.all([
    commands.hmget(keys.rollout, 'rev', 'state', 'frontier', 'ended', 'kind', 'target', 'marks'),
    commands.zscore(ofPolicy(policy).rollouts, id),
    commands.hgetall(keys.counters),
  ]);
  const [rev, state, frontier, ended, kind, target, marks] = fields;
  if (typeof rev !== 'string') return undefined;
  const counters = parseCounters(Object.entries(counted));
  return {
    id,
    kind: kind === 'rollback' ? kind : 'upgrade',
    targetBuild: target ?? 'unknown',
    rev: Number(rev),
    state: isRolloutState(state) ? state : undefined,
    isOver: ended === '1',
    createdAt: createdAt === null ? dayOf(yyyymmdd) : Number(createdAt),
    frontier: Number(frontier ?? '-1'),
    waves: Array.from({ length: waveCountOf(counters) }, (_wave, index) => waveSummaryOf(counters, index)),
    accountMarks: decodeMarks(marks ?? ''),
    problem,
  };
}

function isRolloutState(text: string | null | undefined): text is RolloutState {
  return (rolloutStates as readonly unknown[]).includes(text);
}

/** The first instant of the day in UTC. */
function dayOf(yyyymmdd: string): number {
  return Date.UTC(Number(yyyymmdd.slice(0, 4)), Number(yyyymmdd.slice(4, 6)) - 1, Number(yyyymmdd.slice(6)));
}
