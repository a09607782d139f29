import type { DurationMs } from '../../base/time.ts';
import type { ApiBudget, BudgetGrant, KeyMemory } from '../../orchestrator/ports/api-budget.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

export type Throttle = ReturnType<typeof makeThrottle>;

export interface ThrottleMark {
  readonly rateEpoch: number;
  readonly signInEpoch: number;
}

export interface ThrottleParts {
  readonly budget: ApiBudget;
  /** From 0 to 1; spreads the tries of several daemons. */
  readonly random: () => number;
  /** How long sign-ins rest after a 401, or up to half longer. */
  readonly signInPauseMs?: DurationMs | undefined;
  /** Whether the key worked before this process began; left out: it is not known. */
  readonly keyMemory: KeyMemory | undefined;
  readonly onThrottled: (throttled: { readonly reason: '429' | '401'; readonly pauseMs: DurationMs }) => void;
}

// The window of the sign-in throttle is a minute (field-facts.md, The wire).
const signInPauseDefaultMs: DurationMs = 60_000;

/** A third 401 in a row, each a minute after the one before, is no throttle any more (DESIGN §4). */
const unauthorizedMax = 3;

// However long a service asks for: who comes back after an hour costs it nothing, and no fleet waits for a year.
const retryAfterMaxMs: DurationMs = 3_600_000;

/**
 * What refusals by limits mean for the whole key (P8). Requests that had already been sent when a pause began say
 * nothing new: each carries the mark of its start, and only those sent after the last pause count.
 */
export function makeThrottle(parts: ThrottleParts) {
  const { budget, random, keyMemory, onThrottled, signInPauseMs = signInPauseDefaultMs } = parts;
  let keyHasWorked = false;
  let rateEpoch = 0;
  let signInEpoch = 0;
  let wasLimited = false;
  let unauthorizedInRow = 0;
  // The first success of a process is reported, too: the daemon that began a `single` phase may have died in it.
  let isPhaseKnown = false;
  let lastSignInPauseMs = signInPauseMs;

  return {
    begin: (): ThrottleMark => ({ rateEpoch, signInEpoch }),

    /** A normal answer: the key works, and pauses start small again. */
    async succeeded(mark: ThrottleMark, grant: BudgetGrant): Promise<void> {
      keyHasWorked = true;
      await keyMemory?.worked();
      const isFresh = mark.rateEpoch === rateEpoch && mark.signInEpoch === signInEpoch;
      if (!isFresh) return;
      const wasPaused = wasLimited || unauthorizedInRow > 0;
      wasLimited = false;
      unauthorizedInRow = 0;
      if (isPhaseKnown && !wasPaused && grant.single !== true) return;
      isPhaseKnown = true;
      await budget.succeeded();
    },

    /** 429. @param retryAfterMs as the service asked, null when it did not */
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

    /** 401: a throttled sign-in looks exactly like a wrong password (field-facts.md, The wire). */
    async unauthorized(mark: ThrottleMark): Promise<ServiceFailure> {
      keyHasWorked ||= (await keyMemory?.hasWorked()) ?? false;
      if (!keyHasWorked) return neverWorked;
      if (mark.signInEpoch === signInEpoch) {
        signInEpoch += 1;
        unauthorizedInRow += 1;
        const forMs = Math.round(signInPauseMs * (1 + random() / 2));
        lastSignInPauseMs = await budget.pause({ forMs, single: true });
        onThrottled({ reason: '401', pauseMs: lastSignInPauseMs });
      }
      return unauthorizedInRow >= unauthorizedMax
        ? worksNoMore(unauthorizedInRow)
        : signInThrottled(lastSignInPauseMs);
    },
  };
}

const neverWorked: ServiceFailure = {
  kind: 'misconfigured',
  detail:
    'The service does not accept the access key (401). Check service.accessId, service.accessKey and service.baseUrl; when they are right, too many sign-ins were tried within a minute.',
};

function signInThrottled(retryAfterMs: DurationMs): ServiceFailure {
  const detail =
    'The service refused an access key that worked before (401): sign-ins are throttled for about a minute, or it was revoked.';
  return { kind: 'signInThrottled', retryAfterMs, detail };
}

function worksNoMore(times: number): ServiceFailure {
  const detail = `The service refused an access key that worked before (401), ${times} times in a row, a minute apart. Was it revoked? Check it.`;
  return { kind: 'misconfigured', detail };
}
