import { candidatesPerView, perLaneMin } from '../../orchestrator/ports/rollout-store.ts';
import type { PlanGroups } from '../../rollout/model/plan-groups.ts';
import type { Candidate, LaneQueue, Rollout, StoredView } from '../../rollout/model/rollout.ts';
import { pairsOf } from '../connection/commands.ts';
import { counterField, groupSummariesOf, parseCounters, waveSummaryOf } from '../schema/counter-fields.ts';
import { laneSpan, parsePendingScore, placeBounds, waveSpan } from '../schema/plan-place.ts';
import type { ViewReply } from './scripts.ts';

/** The limits of a view, and the structure of scores. */
export const viewBounds = {
  candidatesMax: candidatesPerView,
  perLaneMin,
  laneSpan,
  waveSpan,
  lanesMax: placeBounds.lanes,
};

/** Decodes a view, except for the rollout and its groups. */
export function decodeView(reply: ViewReply, rollout: Rollout, groups: PlanGroups): StoredView {
  const { brake, pending, retries, nextRetryAt, overdue, pacedForMs } = reply;
  const counters = parseCounters(pairsOf(reply.counters));
  const count = counters.get(counterField.learnedCount) ?? 0;
  const sumMs = counters.get(counterField.learnedSumMs) ?? 0;
  return {
    rollout,
    waves: rollout.waves.map((_wave, index) => waveSummaryOf(counters, index)),
    groups,
    slotsTaken: counters.get(counterField.slots) ?? 0,
    ...groupSummariesOf(counters),
    pacedForMs,
    candidates: decodeCandidates(pending, retries),
    nextRetryAt: nextRetryAt === '' ? null : Number(nextRetryAt),
    overdue: overdue.map(Number),
    braked: brake === '1',
    learned: { count, meanMs: count === 0 ? 0 : sumMs / count },
  };
}

/**
 * Candidates by lane, in the order of lanes. Within a lane in the order of the script: by wave and position, or by instant.
 */
function decodeCandidates(pending: readonly string[], retries: readonly string[]): readonly LaneQueue[] {
  const lanes = new Map<number, { retries: Candidate[]; pending: Candidate[] }>();
  const laneOf = (lane: number) => {
    const queue = lanes.get(lane) ?? { retries: [], pending: [] };
    lanes.set(lane, queue);
    return queue;
  };
  for (const [id, score] of pairsOf(pending)) {
    const { lane, order } = parsePendingScore(Number(score));
    laneOf(lane).pending.push({ collectorId: Number(id), order });
  }
  for (const [name, instant] of pairsOf(retries)) {
    const [collectorId, lane] = name.split(':');
    laneOf(Number(lane)).retries.push({ collectorId: Number(collectorId), order: Number(instant) });
  }
  return [...lanes].sort(([a], [b]) => a - b).map(([lane, queue]) => ({ lane, ...queue }));
}
