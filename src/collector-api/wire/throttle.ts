import type { DurationMs } from '../../base/time.ts';
import type { ApiBudget, BudgetGrant, KeyMemory } from '../../orchestrator/ports/api-budget.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

/**
 * What refusals by limits mean for the whole key (P8). Requests that were already on their way when a pause began say
 * nothing new: each carries the mark of its start, and only those sent after the last pause count.
 */
export interface Throttle {
  begin(): ThrottleMark;
  /** A normal answer: the key works, and pauses start small again. */
  succeeded(mark: ThrottleMark, grant: BudgetGrant): Promise<void>;
  /** 429. `retryAfterMs`: as the service asked, null when it did not. */
  rateLimited(mark: ThrottleMark, retryAfterMs: DurationMs | null): Promise<void>;
  /** 401: a throttled sign-in looks exactly like a wrong password (field-facts.md, The wire). */
  unauthorized(mark: ThrottleMark): Promise<SignInVerdict>;
}

export interface ThrottleMark {
  readonly rateEpoch: number;
  readonly signInEpoch: number;
}

export type SignInVerdict =
  | { readonly kind: 'neverWorked' }
  | { readonly kind: 'throttled'; readonly retryAfterMs: DurationMs }
  | { readonly kind: 'worksNoMore'; readonly times: number };

export interface ThrottleParts {
  readonly budget: ApiBudget;
  /** From 0 to 1; spreads the tries of several daemons. */
  readonly random: () => number;
  /** Shortens the pauses for a service whose time runs faster; 1 in production. */
  readonly pauseScale: number;
  /** Whether the key worked before this process began; left out: it is not known. */
  readonly keyMemory: KeyMemory | undefined;
  readonly onThrottled: (throttled: { readonly reason: '429' | '401'; readonly pauseMs: DurationMs }) => void;
}

const ratePauseMinMs = 1_000;
const ratePauseMaxMs = 60_000;

// An hour of waiting is no wait but an outage, which the next 429 tells again.
const retryAfterMaxMs = 3_600_000;

// The window of the sign-in throttle is a minute (field-facts.md, The wire).
const signInPauseMinMs = 60_000;
const signInPauseSpreadMs = 30_000;

/** A third 401 in a row, each a minute after the one before, is no throttle any more (DESIGN §4). */
const unauthorizedMax = 3;

export function makeThrottle(parts: ThrottleParts): Throttle {
  const { budget, random, pauseScale, keyMemory, onThrottled } = parts;
  let keyHasWorked = false;
  let rateEpoch = 0;
  let signInEpoch = 0;
  let limitedInRow = 0;
  let unauthorizedInRow = 0;
  // The first success of a process is told too: who began a `single` phase may have died in it.
  let isPhaseKnown = false;
  let lastSignInPauseMs = signInPauseMinMs * pauseScale;

  return {
    begin: () => ({ rateEpoch, signInEpoch }),

    async succeeded(mark, grant) {
      keyHasWorked = true;
      await keyMemory?.worked();
      const isFresh = mark.rateEpoch === rateEpoch && mark.signInEpoch === signInEpoch;
      if (!isFresh) return;
      const wasPaused = limitedInRow > 0 || unauthorizedInRow > 0;
      limitedInRow = 0;
      unauthorizedInRow = 0;
      if (isPhaseKnown && !wasPaused && grant.single !== true) return;
      isPhaseKnown = true;
      await budget.succeeded();
    },

    async rateLimited(mark, retryAfterMs) {
      if (mark.rateEpoch !== rateEpoch) return;
      rateEpoch += 1;
      const growingMs =
        Math.min(ratePauseMinMs * 2 ** Math.min(limitedInRow, 20), ratePauseMaxMs) * pauseScale;
      limitedInRow += 1;
      const pauseMs =
        retryAfterMs !== null && retryAfterMs > 0 ? Math.min(retryAfterMs, retryAfterMaxMs) : growingMs;
      onThrottled({ reason: '429', pauseMs });
      await budget.pause({ forMs: pauseMs, single: false });
    },

    async unauthorized(mark) {
      keyHasWorked ||= (await keyMemory?.hasWorked()) ?? false;
      if (!keyHasWorked) return { kind: 'neverWorked' };
      if (mark.signInEpoch === signInEpoch) {
        signInEpoch += 1;
        unauthorizedInRow += 1;
        lastSignInPauseMs = Math.round((signInPauseMinMs + random() * signInPauseSpreadMs) * pauseScale);
        onThrottled({ reason: '401', pauseMs: lastSignInPauseMs });
        await budget.pause({ forMs: lastSignInPauseMs, single: true });
      }
      return unauthorizedInRow >= unauthorizedMax
        ? { kind: 'worksNoMore', times: unauthorizedInRow }
        : { kind: 'throttled', retryAfterMs: lastSignInPauseMs };
    },
  };
}

/** A 401 in a person's words, with what to do about it. */
export function unauthorizedFailure(verdict: SignInVerdict): ServiceFailure {
  switch (verdict.kind) {
    case 'neverWorked':
      return {
        kind: 'misconfigured',
        detail:
          'The service does not accept the access key (401). Check service.accessId, service.accessKey and service.baseUrl; when they are right, too many sign-ins were tried within a minute.',
      };
    case 'throttled':
      return {
        kind: 'signInThrottled',
        retryAfterMs: verdict.retryAfterMs,
        detail:
          'The service refused an access key that worked before (401): sign-ins are throttled for about a minute, or it was revoked.',
      };
    case 'worksNoMore':
      return {
        kind: 'misconfigured',
        detail: `The service refused an access key that worked before (401), ${verdict.times} times in a row, a minute apart. Was it revoked? Check it.`,
      };
  }
}
