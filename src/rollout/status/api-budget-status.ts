import type { DurationMs, EpochMs } from '../../base/time.ts';

/** How the budget of one access key stands, over all daemons on it (P8). */
export interface ApiBudgetStatus {
  /** Requests that got their place, over the last minute. */
  readonly requestsPerSecond: number;
  /** What may be used now: less than the maximum after 429s, until the rate has found its way up again. */
  readonly requestsPerSecondNow: number;
  readonly requestsPerSecondMax: number;
  /** 429s in the last hour; those that came at once are one. */
  readonly rateLimited: number;
  readonly outage: Outage | null;
}

/**
 * Why no requests are being sent. `since`: when it was found down; null for a pause. `until`: when the pause ends,
 * or a request tries again; null: one tries it right now.
 */
export interface Outage {
  readonly kind: 'rateLimited' | 'signInThrottled' | 'serviceDown';
  /** For a person. */
  readonly reason: string;
  /** What came instead of an answer; null for a pause. */
  readonly detail: string | null;
  readonly since: EpochMs | null;
  readonly until: EpochMs | null;
}

export const outageReasons: Readonly<Record<Outage['kind'], string>> = {
  rateLimited: 'the service asked for a pause',
  signInThrottled:
    'the service answers 401: it throttles sign-ins, or the access key was revoked (check accessKey)',
  serviceDown: 'the service does not answer',
};

/** The remainder of a pause, or until a service that is down is tried; 0: nobody waits for that. */
export function outageLeftMs({ outage }: ApiBudgetStatus, now: EpochMs): DurationMs {
  return Math.max(0, (outage?.until ?? now) - now);
}
