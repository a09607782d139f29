import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { EventFilter } from './operations.ts';

/** Tells events that match a filter from the others. */
export function makeEventMatcher({
  since,
  type,
  collector,
  by,
}: EventFilter): (event: RolloutEvent) => boolean {
  const name = collector?.toLowerCase();
  return (event) =>
    (since === undefined || event.at >= since) &&
    (type === undefined || event.event === type || event.event.startsWith(`${type}.`)) &&
    (by === undefined || event.by === by) &&
    (name === undefined ||
      String(event.collectorId) === name ||
      event.collectorName?.toLowerCase().includes(name) === true);
}
