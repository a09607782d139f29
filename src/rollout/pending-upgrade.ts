import type { EpochMs } from '../base/time.ts';
import type { PlannedMember } from './arrange-plan.ts';
import { assessHeartbeat, type FleetSnapshot } from './collector.ts';
import type { Upgrade } from './upgrade.ts';

/** What the records of one plan have in common. */
export interface UpgradeOrigin {
  readonly rolloutId: string;
  /** What showed that the service would start these upgrades; null where it was not asked. */
  readonly fleet: Pick<FleetSnapshot, 'readAt' | 'serviceAt' | 'offeredAt'> | null;
}

/** The record of a planned collector that waits for its turn. */
export function pendingUpgrade(
  { collector, order, lane, stratum, domains }: PlannedMember,
  { wave, toBuild }: { readonly wave: number; readonly toBuild: string },
  { rolloutId, fleet }: UpgradeOrigin,
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
    fitAt: fleet === null ? 0 : fitAtOf(collector.lastSeenAlive, fleet),
    ...(typeof fleet?.offeredAt === 'number' ? { offeredAt: fleet.offeredAt } : {}),
    ...(collector.ephemeral ? { ephemeral: true as const } : {}),
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
function fitAtOf(lastSeenAlive: EpochMs | undefined, fleet: NonNullable<UpgradeOrigin['fleet']>): EpochMs {
  return assessHeartbeat(lastSeenAlive, fleet.serviceAt) === 'heard' ? fleet.readAt : 0;
}
