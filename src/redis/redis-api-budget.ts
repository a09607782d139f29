import type { DurationMs } from '../base/time.ts';
import type { ApiBudget, BudgetGrant } from '../orchestrator/api-budget.ts';
import { type ApiBudgetLedgerParts, lateMaxMs, makeApiBudgetLedger, type Slot } from './api-budget-ledger.ts';
import { makeWaitingLine } from './waiting-line.ts';

export interface RedisApiBudget extends ApiBudget {
  /** Refuses who waits, gives back what is held. */
  close(): Promise<void>;
}

// Slots asked for in one call; only near ones are given, so more would not come anyway.
const slotsPerCallMax = 8;

interface Waiter {
  readonly since: number;
  readonly grant: (grant: BudgetGrant) => void;
  readonly refuse: (reason: unknown) => void;
}

/**
 * The API budget over all daemons, in Redis (P8). One dispatcher per process reserves a permit and a near slot, waits
 * for the slot's instant, and only then chooses which of its waiting requests gets it.
 */
export function makeRedisApiBudget(parts: ApiBudgetLedgerParts): RedisApiBudget {
  const ledger = makeApiBudgetLedger(parts);
  const line = makeWaitingLine<Waiter>();
  let pausedUntil = 0;
  let dispatching = false;
  let closed = false;
  let nap: { readonly wake: () => void; readonly endsWithPermit: boolean } | undefined;

  function dispatch(): void {
    if (dispatching || closed) return;
    dispatching = true;
    void dispatchWhileWaiting().finally(() => {
      dispatching = false;
      // One may have come between the last look at the line and here.
      if (line.size > 0) dispatch();
    });
  }

  async function dispatchWhileWaiting(): Promise<void> {
    while (line.size > 0 && !closed) {
      const reservation = await ledger.reserve(Math.min(line.size, slotsPerCallMax));
      if (reservation.kind === 'granted') {
        for (const slot of reservation.slots) await use(slot, reservation.single);
      } else await sleep(reservation.retryInMs, reservation.kind === 'full');
    }
  }

  /** Waits for the slot's instant, and gives it to whoever is first in line then. */
  async function use(slot: Slot, single: boolean): Promise<void> {
    for (let left = slot.at - performance.now(); left > 0 && !closed; left = slot.at - performance.now()) {
      await sleep(left, false);
    }
    const now = performance.now();
    const isMissed = now - slot.at > lateMaxMs || now < pausedUntil || closed;
    const waiter = isMissed ? undefined : line.takeNext();
    if (waiter === undefined) ledger.giveBack(slot.permit);
    else waiter.grant({ waitedMs: now - waiter.since, single, giveBack: () => giveBack(slot.permit) });
  }

  function giveBack(permit: string): void {
    ledger.giveBack(permit);
    if (nap?.endsWithPermit === true) nap.wake();
  }

  function sleep(forMs: DurationMs, endsWithPermit: boolean): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        nap = undefined;
        resolve();
      };
      // Rounded up: a slot must not be used before its time.
      const timer = setTimeout(wake, Math.max(1, Math.ceil(forMs)));
      nap = { wake, endsWithPermit };
    });
  }

  return {
    take: (budgetClass, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(reasonOf(signal));
        if (closed) return reject(closedError());
        const onAbort = () => waiter.refuse(signal === undefined ? undefined : reasonOf(signal));
        const settle = () => signal?.removeEventListener('abort', onAbort);
        const waiter: Waiter = {
          since: performance.now(),
          grant: (grant) => {
            settle();
            resolve(grant);
          },
          refuse: (reason) => {
            settle();
            line.remove(waiter);
            reject(reason);
          },
        };
        signal?.addEventListener('abort', onAbort);
        line.add(budgetClass, waiter);
        dispatch();
      }),

    pause: async ({ forMs, single }) => {
      // At once here; the other daemons learn it with their next reservation, at most one slot later.
      pausedUntil = Math.max(pausedUntil, performance.now() + forMs);
      const lastsMs = await ledger.pause({ forMs, single });
      pausedUntil = Math.max(pausedUntil, performance.now() + lastsMs);
    },

    succeeded: () => ledger.succeeded(),

    close: async () => {
      closed = true;
      for (let waiter = line.takeNext(); waiter !== undefined; waiter = line.takeNext()) {
        waiter.refuse(closedError());
      }
      nap?.wake();
      await ledger.close();
    },
  };
}

function reasonOf(signal: AbortSignal): unknown {
  return signal.reason;
}

function closedError(): Error {
  return new Error('the API budget is closed');
}
