import type { EpochMs } from '../../base/time.ts';
import type { FleetCollector, FleetSnapshot } from '../../rollout/model/collector.ts';

/** A reading of the fleet as if it were made at this instant: who was alive then is alive now, and is offered the build. */
export function fleetAsOf(collectors: readonly FleetCollector[], at: EpochMs): FleetSnapshot {
  return {
    readAt: at,
    serviceAt: at,
    offeredAt: at,
    collectors: collectors.map((each) => (each.alive ? { ...each, lastSeenAlive: at } : each)),
    upgradableIds: new Set(collectors.filter(({ alive }) => alive).map(({ id }) => id)),
  };
}
