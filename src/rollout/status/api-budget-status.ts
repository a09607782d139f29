import type { DurationMs, EpochMs } from '../../base/time.ts';

/** The API budget of one access key, over all daemons that use it (P8). */
export interface ApiBudgetStatus {
  /** Requests granted over the last minute. */
  readonly requestsPerSecond: number;
  /** The rate allowed now: below the maximum after a 429, until it has recovered. */
  readonly requestsPerSecondNow: number;
  readonly requestsPerSecondMax: number;
  /** 429s in the last hour; simultaneous ones count once. */
  readonly rateLimited: number;
  readonly outage: Outage | null;
}

/** Why no requests are being sent. */
export interface Outage {
  readonly kind: 'rateLimited' | 'signInThrottled' | 'serviceDown';
  /** A sentence. */
  readonly reason: string;
  /** The error received instead of an answer; null for a pause. */
  readonly detail: string | null;
  /** When the outage was noticed; null for a pause. */
  readonly since: EpochMs | null;
  /** When the pause ends or the next attempt is due; null while an attempt is in progress. */
  readonly until: EpochMs | null;
}

export const outageReasons: Readonly<Record<Outage['kind'], string>> = {
  rateLimited: 'the service asked for a pause',
  signInThrottled:
    'the service answers 401: it throttles sign-ins, or the access key was revoked (check accessKey)',
  serviceDown: 'the service does not answer',
};

/** How long the pause still lasts, or until the next attempt in an outage; 0 without either. */
export function outageLeftMs({ outage }: ApiBudgetStatus, now: EpochMs): DurationMs {
  return Math.max(0, (outage?.until ?? now) - now);
}
