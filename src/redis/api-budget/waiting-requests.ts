import type { DurationMs } from '../../base/time.ts';
import { type BudgetClass, type BudgetGrant, PausedTooLong } from '../../orchestrator/ports/api-budget.ts';
import { makeWaitingLine } from './waiting-line.ts';

export type WaitingRequests = ReturnType<typeof makeWaitingRequests>;

interface WaitingRequest {
  /** By the monotonic clock. */
  readonly since: number;
  readonly budgetClass: BudgetClass;
  readonly grant: (grant: BudgetGrant) => void;
  readonly refuse: (reason: unknown) => void;
}

/**
 * The requests of this process that wait for a slot.
 * @param waitMaxMs how long a request waits while no requests are sent
 */
export function makeWaitingRequests(waitMaxMs: DurationMs) {
  const line = makeWaitingLine<WaitingRequest>();
  return {
    get size(): number {
      return line.size;
    },
    /** @throws the signal's reason when it is aborted later, or the reason of a refusal */
    wait: (budgetClass: BudgetClass, signal: AbortSignal | undefined): Promise<BudgetGrant> =>
      new Promise((resolve, reject) => {
        const onAbort = () => request.refuse(signal?.reason);
        const settle = () => signal?.removeEventListener('abort', onAbort);
        const request: WaitingRequest = {
          since: performance.now(),
          budgetClass,
          grant: (grant) => {
            settle();
            resolve(grant);
          },
          refuse: (reason) => {
            settle();
            line.remove(request);
            reject(reason);
          },
        };
        signal?.addEventListener('abort', onAbort);
        line.add(budgetClass, request);
      }),
    /** Removes and returns the first request. */
    takeNext: line.takeNext,
    /** Refuses requests that have waited too long. @returns the time until the next one has */
    refuseLate: (outage: string): DurationMs => {
      const now = performance.now();
      let nextMs = waitMaxMs;
      for (const request of line.all()) {
        const leftMs = request.since + waitMaxMs - now;
        if (leftMs <= 0) request.refuse(new PausedTooLong(outage));
        else nextMs = Math.min(nextMs, leftMs);
      }
      return nextMs;
    },
    refuseAll: (reason: Error): void => {
      for (const request of line.all()) request.refuse(reason);
    },
  };
}
