import type { DurationMs } from '../../base/time.ts';
import type { RolloutView } from '../model/rollout.ts';
import type { Decision } from './decision.ts';

// Enough for a leader that changes, and for creates that wait for a heartbeat: none of the rate is ever left unused.
const aheadMs: DurationMs = 60_000;
const queuedMin = 50;

/**
 * Admits no more than the request rate can start in a minute. Policies of an account share the rate, and who was admitted
 * first starts first: one with thousands of slots would put thousands of creates in front of the other policies.
 */
export function limitQueued(decision: Decision, view: RolloutView, requestsPerSecond: number): Decision {
  const queued = view.waves.reduce((sum, { counts }) => sum + counts.queued, 0);
  const room = Math.max(queuedMin, (requestsPerSecond * aheadMs) / 1_000) - queued;
  const actions = decision.actions.flatMap((action) => {
    if (action.do !== 'admit' || action.picks.length <= room) return [action];
    return room < 1 ? [] : [{ ...action, picks: action.picks.slice(0, room) }];
  });
  return { ...decision, actions };
}
