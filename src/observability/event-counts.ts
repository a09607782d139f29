import type { RolloutEvent } from '../rollout/model/events.ts';
import { type EndState, endStates } from '../rollout/model/upgrade.ts';
import type { Metrics } from './metrics.ts';
import { type AttemptClass, attemptClasses, countedEvents } from './upgrade-metrics.ts';

/** Projects an event to counters. Shared state is no part of it: that is read at each scrape. */
export function countEvent(metrics: Metrics, event: RolloutEvent): void {
  const counted = countedEvents.find((name) => name === event.event);
  if (counted !== undefined) metrics.rolloutEvent({ policy: event.policy, event: counted });
  const attemptClass = attemptClassOf(event);
  if (attemptClass !== undefined) metrics.attemptEnded({ policy: event.policy, class: attemptClass });
  if (event.seenDelayMs !== undefined) metrics.taskEndSeen(event.seenDelayMs);
  const outcome = outcomeOf(event);
  if (outcome === undefined) return;
  metrics.upgradeEnded({
    policy: event.policy,
    outcome,
    ...(event.durationMs !== undefined && { durationMs: event.durationMs }),
  });
}

function outcomeOf(event: RolloutEvent): EndState | undefined {
  return endStates.find((state) => event.event === `upgrade.${state}`);
}

const attemptEnds: readonly EndState[] = ['succeeded', 'failed', 'timedOut', 'unconfirmed'];

/** The end of an attempt: an event that names a class, or an end that an attempt led to. */
function attemptClassOf(event: RolloutEvent): AttemptClass | undefined {
  if (!event.event.startsWith('upgrade.')) return undefined;
  const name = event.failureClass ?? attemptEnds.find((end) => event.event === `upgrade.${end}`);
  if (name === undefined) return undefined;
  return attemptClasses.find((known) => known === name) ?? 'other';
}
