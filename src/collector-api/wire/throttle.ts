import type { DurationMs } from '../../base/time.ts';
import type { ApiBudget, BudgetGrant, KeyMemory } from '../../orchestrator/ports/api-budget.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

export type Throttle = ReturnType<typeof makeThrottle>;

export interface ThrottleMark {
  readonly rateEpoch: number;
  readonly signInEpoch: number;
  /** Whether the request carried a session cookie. */
  readonly hasCookie: boolean;
}

export interface ThrottleParts {
  readonly budget: ApiBudget;
  /** From 0 to 1; spreads the retries of several daemons. */
  readonly random: () => number;
  /** How long sign-ins pause after a 401, or up to half longer. */
  readonly signInPauseMs: DurationMs | undefined;
  /** Remembers whether the key worked before this process started; undefined: unknown. */
  readonly keyMemory: KeyMemory | undefined;
  readonly onThrottled: (throttled: { readonly reason: '429' | '401'; readonly pauseMs: DurationMs }) => void;
}

// The window of the sign-in throttle is a minute (field-facts.md, The wire).
const signInPauseDefaultMs: DurationMs = 60_000;

/** A third 401 in a row, each a minute after the one before, is no throttle any more (DESIGN §4). */
const unauthorizedMax = 3;

// A limit for any `Retry-After`: returning after an hour costs the service nothing, and no fleet waits for a year.
const retryAfterMaxMs: DurationMs = 3_600_000;

/**
 * Applies rate limits and failed sign-ins to the whole key (P8). Requests that were in flight when a pause began do not
 * count: each carries the mark of its start.
 */
export function makeThrottle(parts: ThrottleParts) {
  const { budget, random, keyMemory, onThrottled, signInPauseMs = signInPauseDefaultMs } = parts;
  let keyHasWorked = false;
  let rateEpoch = 0;
  let signInEpoch = 0;
  let wasLimited = false;
  let unauthorizedInRow = 0;
  /** A cookie was refused, and no request has succeeded since. */
  let isSessionRefused = false;
  // The first success of a process is reported as well, because the daemon that began a `single` phase may have died in
  // it.
  let isPhaseKnown = false;
  let lastSignInPauseMs = signInPauseMs;

  return {
    begin: (hasCookie: boolean): ThrottleMark => ({ rateEpoch, signInEpoch, hasCookie }),

    /** A successful response: the key works, and pauses start small again. */
    async succeeded(mark: ThrottleMark, grant: BudgetGrant): Promise<void> {
      keyHasWorked = true;
      await keyMemory?.worked();
      const isFresh = mark.rateEpoch === rateEpoch && mark.signInEpoch === signInEpoch;
      if (!isFresh) return;
      const wasPaused = wasLimited || unauthorizedInRow > 0;
      wasLimited = false;
      unauthorizedInRow = 0;
      isSessionRefused = false;
      if (isPhaseKnown && !wasPaused && grant.single !== true) return;
      isPhaseKnown = true;
      await budget.succeeded();
    },

    /** 429. @param retryAfterMs as the service asked; null when it did not */
    async rateLimited(mark: ThrottleMark, retryAfterMs: DurationMs | null): Promise<void> {
      if (mark.rateEpoch !== rateEpoch) return;
      rateEpoch += 1;
      wasLimited = true;
      const pauseMs = await budget.pause({
        forMs: Math.min(retryAfterMs ?? 0, retryAfterMaxMs),
        single: false,
      });
      onThrottled({ reason: '429', pauseMs });
    },

    /**
     * 401: a throttled sign-in looks exactly like a wrong password (field-facts.md, The wire).
     * @returns undefined when the cookie of a working session was refused: the request may be repeated without it, once
     */
    async unauthorized(mark: ThrottleMark): Promise<ServiceFailure | undefined> {
      keyHasWorked ||= (await keyMemory?.hasWorked()) ?? false;
      if (!keyHasWorked) return neverWorked;
      const isFresh = mark.signInEpoch === signInEpoch;
      if (isFresh) signInEpoch += 1;
      if (isFresh && mark.hasCookie && unauthorizedInRow === 0 && !isSessionRefused) isSessionRefused = true;
      else if (isFresh) {
        unauthorizedInRow += 1;
        const forMs = Math.round(signInPauseMs * (1 + random() / 2));
        lastSignInPauseMs = await budget.pause({ forMs, single: true });
        onThrottled({ reason: '401', pauseMs: lastSignInPauseMs });
      }
      // Also for requests that were in flight with the same cookie.
      if (unauthorizedInRow === 0) return undefined;
      return unauthorizedInRow >= unauthorizedMax
        ? worksNoMore(unauthorizedInRow)
        : signInThrottled(lastSignInPauseMs);
    },
  };
}

const neverWorked: ServiceFailure = {
  kind: 'misconfigured',
  detail:
    'The service does not accept the access key (401). Check accessId, accessKey and baseUrl in the config. If they are right, there were too many sign-ins within a minute.',
};

function signInThrottled(retryAfterMs: DurationMs): ServiceFailure {
  const detail =
    'The service refused an access key that worked before (401): sign-ins are throttled for about a minute, or it was revoked.';
  return { kind: 'signInThrottled', retryAfterMs, detail };
}

function worksNoMore(times: number): ServiceFailure {
  const detail = `The service refused an access key that worked before (401), ${times} times in a row, a minute apart. Check whether it was revoked.`;
  return { kind: 'misconfigured', detail };
}
