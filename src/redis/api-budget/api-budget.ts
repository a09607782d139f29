import type { DurationMs } from '../../base/time.ts';
import {
  type ApiBudget,
  type BudgetGrant,
  outageWaitMaxMs,
  PausedTooLong,
} from '../../orchestrator/ports/api-budget.ts';
import {
  type ApiBudgetLedger,
  type ApiBudgetLedgerParts,
  budgetIsAway,
  lateMaxMs,
  makeApiBudgetLedger,
  type Reservation,
  type Slot,
} from './ledger.ts';
import { makeSlotSlack } from './slot-slack.ts';
import { makeWaitingLine } from './waiting-line.ts';

export type RedisApiBudget = ApiBudgetDispatcher;

export type RedisApiBudgetParts = ApiBudgetLedgerParts & Omit<ApiBudgetDispatcherParts, 'ledger'>;

/** The API budget over all daemons, in Redis (P8). */
export function makeRedisApiBudget(parts: RedisApiBudgetParts): RedisApiBudget {
  return makeApiBudgetDispatcher({ ...parts, ledger: makeApiBudgetLedger(parts) });
}

export interface ApiBudgetDispatcher extends ApiBudget {
  /** Learns, without a request, whether another daemon found the service down. Never throws. */
  learnStatus(): Promise<void>;
  /** Refuses who waits, gives back what is held. */
  close(): Promise<void>;
}

export interface ApiBudgetDispatcherParts {
  readonly ledger: ApiBudgetLedger;
  /** How long a request waits at most while all stand still, before it is refused with `PausedTooLong`. */
  readonly outageWaitMaxMs?: DurationMs;
  /** Told when places come too late again and again, and by how much: this process gets to nothing in time. */
  readonly onStarved?: (lateMs: DurationMs) => void;
}

// A reservation takes a millisecond; a connection that lost its Redis keeps the call until it is back.
const reservedWithinMs: DurationMs = 2_000;

// Slots asked for in one call; only near ones are given, so more would not come anyway.
const slotsPerCallMax = 8;

type Granted = Extract<Reservation, { kind: 'granted' }>;
type Phase = Pick<Granted, 'single' | 'isProbe'>;

interface Waiter {
  readonly since: number;
  readonly grant: (grant: BudgetGrant) => void;
  readonly refuse: (reason: unknown) => void;
}

/**
 * One dispatcher per process reserves a permit and a near slot, waits for the slot's instant, and only then chooses
 * which of its waiting requests gets it.
 */
export function makeApiBudgetDispatcher(parts: ApiBudgetDispatcherParts): ApiBudgetDispatcher {
  const { ledger, outageWaitMaxMs: waitMaxMs = outageWaitMaxMs } = parts;
  const line = makeWaitingLine<Waiter>();
  const slack = makeSlotSlack({ lateMaxMs, onStarved: parts.onStarved });
  let pausedUntil = 0;
  let dispatching = false;
  let closed = false;
  let nap: { readonly wake: () => void; readonly endsWithPermit: boolean } | undefined;

  function dispatch(): void {
    if (dispatching || closed) return;
    dispatching = true;
    void dispatchWhileWaiting().finally(() => {
      dispatching = false;
      // One may have come between the last check of the line and here.
      if (line.size > 0) dispatch();
    });
  }

  async function dispatchWhileWaiting(): Promise<void> {
    while (line.size > 0 && !closed) {
      const { slackMs } = slack;
      const reservation = await reserve(Math.min(line.size, slotsPerCallMax), slackMs);
      if (reservation.kind !== 'granted') await waitOut(reservation);
      else {
        await useAll(reservation, slackMs);
        // Others get as much of the rate as was held up for this one.
        if (slackMs > 0 && line.size > 0 && !closed) await sleep(slackMs, false);
      }
    }
  }

  async function useAll({ slots, single, isProbe }: Granted, slackMs: DurationMs): Promise<void> {
    let missedByMs: DurationMs | undefined;
    let usedLateMs: DurationMs | undefined;
    for (const slot of slots) {
      const lateMs = await waitFor(slot);
      if (lateMs > lateMaxMs + slackMs) {
        missedByMs = lateMs;
        ledger.giveBack(slot.permit);
      } else {
        usedLateMs = lateMs;
        use(slot, { single, isProbe });
      }
    }
    if (usedLateMs !== undefined) slack.used(usedLateMs);
    else if (missedByMs !== undefined) slack.missed(missedByMs);
  }

  /** However long Redis takes to answer, nobody waits longer for it than for any other standstill. */
  async function reserve(count: number, slackMs: DurationMs): Promise<Reservation> {
    const refuse = (): void => {
      timer = setTimeout(refuse, refuseWhoWaitedLong(budgetIsAway));
    };
    let timer = setTimeout(refuse, reservedWithinMs);
    try {
      return await ledger.reserve(count, slackMs);
    } finally {
      clearTimeout(timer);
    }
  }

  async function waitOut(reservation: Exclude<Reservation, { kind: 'granted' }>): Promise<void> {
    const { kind, retryInMs, standstill } = reservation;
    const patienceMs = standstill === null ? retryInMs : refuseWhoWaitedLong(standstill);
    if (line.size > 0) await sleep(Math.min(retryInMs, patienceMs), kind === 'full');
  }

  /** @returns after how long the next one will have waited long enough */
  function refuseWhoWaitedLong(standstill: string): DurationMs {
    const now = performance.now();
    let patienceMs = waitMaxMs;
    for (const waiter of line.all()) {
      const leftMs = waiter.since + waitMaxMs - now;
      if (leftMs <= 0) waiter.refuse(new PausedTooLong(standstill));
      else patienceMs = Math.min(patienceMs, leftMs);
    }
    return patienceMs;
  }

  /** Waits for the slot's instant. @returns how late it is then */
  async function waitFor(slot: Slot): Promise<DurationMs> {
    for (let left = slot.at - performance.now(); left > 0 && !closed; left = slot.at - performance.now()) {
      await sleep(left, false);
    }
    return performance.now() - slot.at;
  }

  /** Gives the slot to whoever is first in line now. */
  function use(slot: Slot, phase: Phase): void {
    const now = performance.now();
    const waiter = now < pausedUntil || closed ? undefined : line.takeNext();
    if (waiter === undefined) ledger.giveBack(slot.permit);
    else {
      const waitedMs = now - waiter.since;
      waiter.grant({ waitedMs, ...phase, giveBack: () => giveBack(slot.permit) });
    }
  }

  /** @param atOnceMs what is known of its length before Redis has answered */
  async function pause(ask: Parameters<typeof ledger.pause>[0], atOnceMs: DurationMs): Promise<void> {
    // At once here; the other daemons learn it with their next reservation, at most one slot later.
    pausedUntil = Math.max(pausedUntil, performance.now() + atOnceMs);
    const lastsMs = await ledger.pause(ask);
    pausedUntil = Math.max(pausedUntil, performance.now() + lastsMs);
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

    pause: ({ forMs, single }) => pause({ kind: single ? 'single' : 'rate', forMs }, forMs),
    serviceDown: (reason) => pause({ kind: 'down', reason }, 0),
    serviceUp: () => ledger.serviceUp(),
    succeeded: () => ledger.succeeded(),
    learnStatus: () => ledger.learnStatus(),

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
