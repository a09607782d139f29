import type { DurationMs } from '../base/time.ts';
import { sleepForReal, withEitherSignal } from '../base/waiting.ts';
import { type ApiBudget, PausedTooLong } from '../orchestrator/ports/api-budget.ts';
import { outageReasons } from '../rollout/status/api-budget-status.ts';

// A little more than 1/R apart, as in the shared budget, so that no second holds more than R requests.
const marginShare = 0.04;

// Who typed a command rather hears that he must wait than wait this long.
const pauseMaxMs: DurationMs = 90_000;

// How pauses grow that the service did not ask for, or asked to be shorter; as in the shared budget.
const growthMinMs: DurationMs = 1_000;
const growthMaxMs: DurationMs = 60_000;

// Shorter ones are over before a person wonders.
const reportedFromMs: DurationMs = 2_000;

/** Hears of a wait for a pause of the service that a person notices; once a pause. */
export type OnPauseWait = (wait: { readonly waitMs: DurationMs; readonly reason: string }) => void;

/**
 * An API budget of this process alone, for commands that need no Redis: one request at a time, evenly spaced. It knows
 * nothing of daemons on the same key, and makes few requests.
 */
export function makeLocalApiBudget(requestsPerSecond: number, onPauseWait?: OnPauseWait): ApiBudget {
  const spacingMs = (1_000 / requestsPerSecond) * (1 + marginShare);
  let nextAt = 0;
  let growthMs = 0;
  // Set by a pause, until a request that waits for it has reported it.
  let unreported: string | undefined;
  let last: Promise<void> = Promise.resolve();
  return {
    take: async (_budgetClass, signal) => {
      const askedAt = performance.now();
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
      return { waitedMs: performance.now() - askedAt, giveBack };
    },
    pause: async ({ forMs, single }) => {
      growthMs = Math.min(Math.max(2 * growthMs, growthMinMs), growthMaxMs);
      const lastsMs = Math.max(forMs, growthMs);
      nextAt = Math.max(nextAt, performance.now() + lastsMs);
      unreported = outageReasons[single ? 'signInThrottled' : 'rateLimited'];
      return lastsMs;
    },
    // A command tries a few times, reports, and ends: nobody else waits behind it.
    serviceDown: async () => undefined,
    serviceUp: async () => undefined,
    succeeded: async () => {
      growthMs = 0;
    },
  };
}

/**
 * A budget that grants nothing any more once `stopping` is aborted: what waits for its place ends unsent, while
 * what is already out still gets its answer.
 */
export function makeStoppableBudget(budget: ApiBudget, stopping: AbortSignal): ApiBudget {
  return {
    ...budget,
    take: (budgetClass, signal) =>
      withEitherSignal([signal, stopping], (either) => budget.take(budgetClass, either)),
  };
}
