import { isSameBuild } from '../../base/build-version.ts';
import type { EpochMs } from '../../base/time.ts';
import { assessHeartbeat } from '../model/collector.ts';
import type { Upgrade } from '../model/upgrade.ts';
import type { CollectorObservation, InventoryRow } from './facts.ts';
import { nextAgainAt } from './poll-schedule.ts';
import type { EvolveContext } from './transitions.ts';

// In a five-minute upgrade, a restart keeps the collector silent for up to a minute. This waits for half of that.
const restartShare = 1 / 10;

type Heartbeat = Pick<CollectorObservation, 'alive' | 'lastSeenAlive' | 'serviceAt'>;

/**
 * Whether the collector may be restarting at the end of an upgrade. It shows the old build and is listed as upgradable
 * then. Without the service's clock, a heartbeat can't rule that out.
 */
export function mayRestart({ alive, lastSeenAlive, serviceAt }: Heartbeat): boolean {
  const heartbeat = assessHeartbeat(lastSeenAlive, serviceAt);
  const isUnjudged = serviceAt === null && lastSeenAlive !== null;
  return !alive || isUnjudged || heartbeat === 'silent' || heartbeat === 'late';
}

/** When a restart right after the last heartbeat becomes visible as silence. */
export function restartSeenAt(at: EpochMs, polledBefore: number, { policy }: EvolveContext): EpochMs {
  return Math.max(nextAgainAt(at, polledBefore, policy), at + policy.upgrade.expectMs * restartShare);
}

/** Whether an inventory row can replace the poll before a create: alive, not on the target, with a new heartbeat. */
export function showsEligible(
  { identity: { toBuild } }: Upgrade,
  { build, alive, lastSeenAlive, serviceAt }: InventoryRow,
  heartbeatAfter: EpochMs | undefined,
): boolean {
  if (!alive || lastSeenAlive === null || isSameBuild(build, toBuild)) return false;
  return assessHeartbeat(lastSeenAlive, serviceAt) === 'heard' && lastSeenAlive > (heartbeatAfter ?? 0);
}

/** Whether a collector that was not alive can be retried. */
export function isHeardAgain({ alive, lastSeenAlive, serviceAt }: Heartbeat): boolean {
  return alive && assessHeartbeat(lastSeenAlive, serviceAt) !== 'silent';
}
