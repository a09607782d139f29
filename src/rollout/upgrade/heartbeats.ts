import { isSameBuild } from '../../base/build-version.ts';
import type { EpochMs } from '../../base/time.ts';
import { assessHeartbeat } from '../model/collector.ts';
import type { Upgrade } from '../model/upgrade.ts';
import type { CollectorObservation, InventoryRow } from './facts.ts';
import { nextAgainAt } from './poll-schedule.ts';
import type { EvolveContext } from './transitions.ts';

// A restart keeps a collector silent for up to a minute where an upgrade takes five: seen after half of that.
const restartShare = 1 / 10;

type Heartbeat = Pick<CollectorObservation, 'alive' | 'lastSeenAlive' | 'serviceAt'>;

/**
 * A collector that restarts at the end of its upgrade still shows the old build, and is offered again. So may one whose
 * heartbeat there is no time to compare with.
 */
export function mayRestart({ alive, lastSeenAlive, serviceAt }: Heartbeat): boolean {
  const heartbeat = assessHeartbeat(lastSeenAlive, serviceAt);
  const isUnjudged = serviceAt === null && lastSeenAlive !== null;
  return !alive || isUnjudged || heartbeat === 'silent' || heartbeat === 'late';
}

/** When a collector whose last heartbeat came right before its restart shows that it restarts. */
export function restartSeenAt(at: EpochMs, polledBefore: number, { policy }: EvolveContext): EpochMs {
  return Math.max(nextAgainAt(at, polledBefore, policy), at + policy.upgrade.expectMs * restartShare);
}

/** Whether a row of the inventory is as good as a poll before its create: alive, not at the build, and heard from since. */
export function showsEligible(
  { identity: { toBuild } }: Upgrade,
  { build, alive, lastSeenAlive, serviceAt }: InventoryRow,
  heartbeatAfter: EpochMs | undefined,
): boolean {
  if (!alive || lastSeenAlive === null || isSameBuild(build, toBuild)) return false;
  return assessHeartbeat(lastSeenAlive, serviceAt) === 'heard' && lastSeenAlive > (heartbeatAfter ?? 0);
}

/** A collector that was not alive may be tried again. */
export function isHeardAgain({ alive, lastSeenAlive, serviceAt }: Heartbeat): boolean {
  return alive && assessHeartbeat(lastSeenAlive, serviceAt) !== 'silent';
}
