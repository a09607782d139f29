import type { EpochMs } from '../../base/time.ts';
import type { FleetSnapshot } from '../../rollout/model/collector.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { usualReadings } from '../../rollout/readings/usual-readings.ts';
import type { VirtualBudget } from '../world/virtual-budget.ts';

export type ListReadings = ReturnType<typeof makeListReadings>;

/** The lists that a daemon reads for all running upgrades at once. */
export function makeListReadings({
  policy,
  snapshot,
  beganAt,
  budget,
}: {
  readonly policy: Policy;
  readonly snapshot: FleetSnapshot;
  readonly beganAt: EpochMs;
  readonly budget: VirtualBudget;
}) {
  const fleetSize = snapshot.collectors.length;
  const usualMs = policy.upgrade.expectMs;
  const slots = policy.concurrency;
  const { requestsPerSecond } = budget;
  const { periodMs, requestsPerMs } = usualReadings({
    ...{ upgrades: fleetSize, slots, fleetSize },
    ...{ usualMs, requestsPerSecond },
  });
  let paidAt = beganAt;
  return {
    /** The next reading that shows ended upgrades, from this instant on. */
    nextAt: (from: EpochMs): EpochMs => beganAt + Math.ceil((from - beganAt) / periodMs) * periodMs,
    /** Spends the requests of all readings so far. Called at each step of an upgrade. */
    payUntil: (now: EpochMs): void => {
      // When the last step was long ago, nothing was in flight: a soak, or deferred collectors.
      budget.spend(Math.min(now - paidAt, usualMs) * requestsPerMs, now);
      paidAt = now;
    },
  };
}
