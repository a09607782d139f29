import { sumOf } from '../../base/grouping.ts';
import type { DurationMs } from '../../base/time.ts';
import type { RolloutView } from '../model/rollout.ts';
import type { Decision } from './decision.ts';

// Enough to use the whole rate during a change of leader, or while creates wait for a heartbeat.
const aheadMs: DurationMs = 60_000;
const queuedMin = 50;

/**
 * Admits no more upgrades than the request rate can start in a minute. The policies of an account share the rate, and
 * creates are sent in the order of admission. A policy with thousands of slots would delay the creates of all others.
 */
export function limitQueued(decision: Decision, view: RolloutView, requestsPerSecond: number): Decision {
  const queued = sumOf(view.waves, ({ counts }) => counts.queued);
  const room = Math.max(queuedMin, (requestsPerSecond * aheadMs) / 1_000) - queued;
  const actions = decision.actions.flatMap((action) => {
    if (action.do !== 'admit' || action.picks.length <= room) return [action];
    return room < 1 ? [] : [{ ...action, picks: action.picks.slice(0, room) }];
  });
  return { ...decision, actions };
}
