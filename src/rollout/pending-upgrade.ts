import type { EpochMs } from '../base/time.ts';
import type { PlannedMember } from './arrange-plan.ts';
import { assessHeartbeat, type FleetSnapshot } from './collector.ts';
import type { Upgrade } from './upgrade.ts';

/** What the records of one plan have in common. */
export interface UpgradeOrigin {
  readonly rolloutId: string;
  readonly fleet: Pick<FleetSnapshot, 'readAt' | 'serviceAt'>;
  /** The service's clock when it would have started these upgrades; null where it was not asked, or did not tell. */
  readonly offeredAt: EpochMs | null;
}

/** The record of a planned collector that waits for its turn. */
export function pendingUpgrade(
  { collector, order, lane, stratum, domains }: PlannedMember,
  { wave, toBuild }: { readonly wave: number; readonly toBuild: string },
  { rolloutId, fleet, offeredAt }: UpgradeOrigin,
): Upgrade {
  return {
    rolloutId,
    collectorId: collector.id,
    collectorName: collector.name,
    wave,
    order,
    fromBuild: collector.build,
    toBuild,
    lane,
    stratum,
    domains,
    fitAt: fitAtOf(collector.lastSeenAlive, fleet),
    ...(offeredAt === null ? {} : { offeredAt }),
    rev: 1,
    attempts: 0,
    doubts: 0,
    unexplained: 0,
    misses: 0,
    firstStartedAt: null,
    state: 'pending',
  };
}

/** Of the others it is not known that they were alive then (P1). */
function fitAtOf(lastSeenAlive: EpochMs | undefined, fleet: UpgradeOrigin['fleet']): EpochMs {
  return assessHeartbeat(lastSeenAlive, fleet.serviceAt) === 'heard' ? fleet.readAt : 0;
}
