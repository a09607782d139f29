import type { EpochMs } from '../base/time.ts';

/** How the budget of one access key stands, over all daemons on it (P8). */
export interface ApiStanding {
  /** Requests that got their place, over the last minute. */
  readonly requestsPerSecond: number;
  readonly requestsPerSecondMax: number;
  /** 429s in the last hour; those that came at once are one. */
  readonly rateLimited: number;
  readonly standstill: Standstill | null;
}

/**
 * Why nobody gets on with the service. `since`: when it was found down; null for a pause. `until`: when the pause ends,
 * or a request tries again; null: one tries it right now.
 */
export interface Standstill {
  readonly kind: 'rateLimited' | 'signInThrottled' | 'serviceDown';
  /** For a person, without instants. */
  readonly reason: string;
  readonly since: EpochMs | null;
  readonly until: EpochMs | null;
}

/** @param detail for `serviceDown`: what came instead of an answer */
export function standstillReason(kind: Standstill['kind'], detail = ''): string {
  switch (kind) {
    case 'rateLimited':
      return 'the service asked for a pause';
    case 'signInThrottled':
      return 'the service throttles sign-ins';
    case 'serviceDown':
      return `the service does not answer: ${detail}`;
    default:
      return kind satisfies never;
  }
}
