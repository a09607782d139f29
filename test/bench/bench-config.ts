import type { DurationMs } from '../../src/base/time.ts';
import { serviceLimits } from '../../src/contract/collector-management/limits.ts';
import type { Credentials } from '../../src/reference-service/server/authentication.ts';

/** A policy that selects no collector, so that its scans only read. */
export const idlePolicy = { name: 'idle', select: { include: { name: 'nobody' } }, schedule: '0 0 1 1 *' };

/** A config file as data. */
export interface ConfigData extends Readonly<Record<string, unknown>> {
  readonly service?: object;
  readonly accounts?: Readonly<Record<string, object>>;
  readonly rollouts: readonly object[];
}

/** How fast the service's time runs beside ours, and how much may run in it. */
export interface Pace {
  readonly speed: number;
  /** Upgrades that may run at one instant. */
  readonly slots: number;
  /** How long an upgrade usually takes, in the service's time. */
  readonly expectMs: DurationMs;
}

/**
 * The config file of a daemon, as data: the daemon's defaults, but one wave and no soak. Durations are the service's, in
 * our time.
 * @param rollout keys of the policy that differ
 */
export function benchConfig(
  { speed, slots, expectMs }: Pace,
  to: { readonly baseUrl: string; readonly credentials: Credentials; readonly redisUrl: string },
  rollout: Readonly<Record<string, unknown>> = {},
): ConfigData {
  const scaled = (durationMs: DurationMs) => `${Math.round(durationMs / speed)}ms`;
  return {
    service: {
      baseUrl: to.baseUrl,
      ...to.credentials,
      requestsPerSecond: serviceLimits.requestsPerSecond * speed,
    },
    redis: { url: to.redisUrl },
    http: { port: 0 },
    // The end of a task is a line of this level.
    log: { level: 'debug' },
    rollouts: [
      {
        name: 'bench',
        schedule: scheduleAt(speed),
        concurrency: slots,
        waves: [{ name: 'all', maxFailures: '100%' }],
        upgrade: {
          deadline: scaled(35 * 60_000),
          verifyWithin: scaled(10 * 60_000),
          expect: scaled(expectMs),
        },
        retry: { backoff: { initial: scaled(120_000), max: scaled(3_600_000) } },
        defer: { upTo: scaled(12 * 3_600_000) },
        ...rollout,
      },
    ],
  };
}

// The default schedule in the service's time: a scan each 15 minutes, or each 20 at 20 times, because a cron line counts
// within a minute.
function scheduleAt(speed: number): string {
  const everySeconds = (15 * 60) / speed;
  return everySeconds > 30 ? '0 * * * * *' : `*/${Math.ceil(everySeconds)} * * * * *`;
}
