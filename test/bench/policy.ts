import type { DurationMs } from '../../src/base/time.ts';
import type { Policy } from '../../src/rollout/model/policy.ts';

/** A policy with the daemon's defaults, but one wave and no soak; durations are the service's, in our time. */
export function benchPolicy(of: {
  readonly slots: number;
  readonly speed: number;
  readonly expectMs: DurationMs;
}): Policy {
  const scaled = (durationMs: DurationMs): DurationMs => durationMs / of.speed;
  return {
    name: 'bench',
    select: { include: {}, exclude: [] },
    target: { version: 'latest', allowDowngrade: false, minimumAgeMs: 0, supersede: false },
    schedule: '*/15 * * * *',
    timeZone: 'UTC',
    concurrency: of.slots,
    maxInFlightPer: [],
    spreadBy: ['osName', 'osArch', 'collectorVersion'],
    isolateStrata: true,
    approval: false,
    windows: [],
    freezes: [],
    onBreach: 'hold',
    waves: [
      {
        name: 'all',
        size: { kind: 'percent', percent: 100 },
        soakMs: 0,
        maxFailures: { kind: 'percent', percent: 100 },
        approval: false,
        gates: [],
      },
    ],
    lostWeight: 3,
    upgrade: {
      deadlineMs: scaled(35 * 60_000),
      verifyWithinMs: scaled(10 * 60_000),
      expectMs: scaled(of.expectMs),
    },
    retry: {
      maxAttempts: 3,
      backoff: { initialMs: scaled(120_000), factor: 3, maxMs: scaled(3_600_000), jitter: 0.2 },
    },
    defer: { upToMs: scaled(12 * 3_600_000) },
    messageRules: [],
  };
}
