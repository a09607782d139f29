import type { DurationMs } from '../base/time.ts';
import { sleepForReal, withEitherSignal } from '../base/waiting.ts';
import { type ApiBudget, PausedTooLong } from '../orchestrator/ports/api-budget.ts';
import { outageReasons } from '../rollout/status/api-budget-status.ts';

// Requests are spaced a little more than 1/R apart, so that no second has more than R.
const marginShare = 0.04;

// For an operator's command, an error is better than a longer wait.
const pauseMaxMs: DurationMs = 90_000;

// Pauses grow between these limits when the service asks for none, or a shorter one. The same as in the shared budget.
const growthMinMs: DurationMs = 1_000;
const growthMaxMs: DurationMs = 60_000;

// Shorter waits are not worth a message.
const reportedFromMs: DurationMs = 2_000;

/** Called once for each pause of the service that causes a noticeable wait. */
export type OnPauseWait = (wait: { readonly waitMs: DurationMs; readonly reason: string }) => void;

/**
 * An API budget of this process only, for commands that need no Redis: one request at a time, evenly spaced. It does
 * not know of daemons with the same key, but sends few requests.
 */
export function makeLocalApiBudget(requestsPerSecond: number, onPauseWait?: OnPauseWait): ApiBudget {
  const spacingMs = (1_000 / requestsPerSecond) * (1 + marginShare);
  let nextAt = 0;
  let growthMs = 0;
  // Set by a pause, until a request that waits for it reports it.
  let unreported: string | undefined;
  let last: Promise<void> = Promise.resolve();
  return {
    take: async (_budgetClass, signal) => {
      const startedAt = performance.now();
      const before = last;
      let giveBack: () => void = () => undefined;
      last = new Promise((resolve) => {
        giveBack = resolve;
      });
      await before;
      const pauseMs = nextAt - performance.now();
      if (pauseMs > pauseMaxMs) {
        giveBack();
        throw new PausedTooLong(`The service asked for a pause of ${Math.ceil(pauseMs / 60_000)} minutes.`);
      }
      if (unreported !== undefined && pauseMs > reportedFromMs)
        onPauseWait?.({ waitMs: pauseMs, reason: unreported });
      unreported = undefined;
      await sleepForReal(Math.max(0, nextAt - performance.now()), signal);
      if (signal?.aborted === true) {
        giveBack();
        signal.throwIfAborted();
      }
      nextAt = performance.now() + spacingMs;
      return { waitedMs: performance.now() - startedAt, giveBack };
    },
    pause: async ({ forMs, single }) => {
      growthMs = Math.min(Math.max(2 * growthMs, growthMinMs), growthMaxMs);
      const lastsMs = Math.max(forMs, growthMs);
      nextAt = Math.max(nextAt, performance.now() + lastsMs);
      unreported = outageReasons[single ? 'signInThrottled' : 'rateLimited'];
      return lastsMs;
    },
    // A command retries a few times, reports the outage and ends.
    serviceDown: async () => undefined,
    serviceUp: async () => undefined,
    succeeded: async () => {
      growthMs = 0;
    },
  };
}

/**
 * Wraps a budget so that it grants nothing once `stopping` is aborted. Requests that wait for a place end unsent.
 * Requests in flight still get their response.
 */
export function makeStoppableBudget(budget: ApiBudget, stopping: AbortSignal): ApiBudget {
  return {
    ...budget,
    take: (budgetClass, signal) =>
      withEitherSignal([signal, stopping], (either) => budget.take(budgetClass, either)),
  };
}
