import type { DurationMs } from '../../base/time.ts';
import { type ApiBudget, outageWaitMaxMs } from '../../orchestrator/ports/api-budget.ts';
import { type DispatchParts, dispatchWhileWaiting } from './dispatch.ts';
import {
  type ApiBudgetLedger,
  type ApiBudgetLedgerParts,
  lateMaxMs,
  makeApiBudgetLedger,
  type Pause,
} from './ledger.ts';
import { makeNap } from './nap.ts';
import { makeSlotSlack } from './slot-slack.ts';
import { makeWaitingRequests } from './waiting-requests.ts';

/** The API budget that all daemons share through Redis (P8). */
export function makeRedisApiBudget(
  parts: ApiBudgetLedgerParts & Omit<ApiBudgetDispatcherParts, 'ledger'>,
): RedisApiBudget {
  return makeApiBudgetDispatcher({ ...parts, ledger: makeApiBudgetLedger(parts) });
}

export interface RedisApiBudget extends ApiBudget {
  /** Reads whether another daemon found an outage. Never throws. */
  learnStatus(): Promise<void>;
  /** Refuses waiting requests, and returns all permits. */
  close(): Promise<void>;
}

export interface ApiBudgetDispatcherParts {
  readonly ledger: ApiBudgetLedger;
  /** How long a request waits while no requests are sent, before it is refused with `PausedTooLong`. */
  readonly outageWaitMaxMs?: DurationMs;
  /** Called with the lateness when slots are repeatedly reached too late: this process is starved. */
  readonly onStarved: (lateMs: DurationMs) => void;
}

/**
 * One dispatcher per process reserves a permit and a near slot, waits for the slot's instant, and only then chooses which
 * waiting request gets it.
 */
export function makeApiBudgetDispatcher(parts: ApiBudgetDispatcherParts): RedisApiBudget {
  const { ledger } = parts;
  const requests = makeWaitingRequests(parts.outageWaitMaxMs ?? outageWaitMaxMs);
  const nap = makeNap();
  let pausedUntil = 0;
  let pausesStarting = 0;
  let isDispatching = false;
  let isClosed = false;
  const dispatchParts: DispatchParts = {
    ledger,
    requests,
    nap,
    slack: makeSlotSlack({ lateMaxMs, onStarved: parts.onStarved }),
    maySend: () => pausesStarting === 0 && performance.now() >= pausedUntil && !isClosed,
    isClosed: () => isClosed,
  };

  function dispatch(): void {
    if (isDispatching || isClosed) return;
    isDispatching = true;
    void dispatchWhileWaiting(dispatchParts).finally(() => {
      isDispatching = false;
      // A request may have arrived after the last check.
      if (requests.size > 0) dispatch();
    });
  }

  /** The pause applies here at once. Other daemons learn of it with their next reservation, at most one slot later. */
  async function pause(pauseToStart: Pause): Promise<DurationMs> {
    pausesStarting += 1;
    try {
      const lastsMs = await ledger.pause(pauseToStart);
      pausedUntil = Math.max(pausedUntil, performance.now() + lastsMs);
      return lastsMs;
    } finally {
      pausesStarting -= 1;
    }
  }

  return {
    take: async (budgetClass, signal) => {
      signal?.throwIfAborted();
      if (isClosed) throw closedError();
      const waiting = requests.wait(budgetClass, signal);
      dispatch();
      return waiting;
    },
    pause: ({ forMs, single }) => pause({ kind: single ? 'single' : 'rate', forMs }),
    serviceDown: async (reason) => {
      await pause({ kind: 'down', reason });
    },
    serviceUp: () => ledger.serviceUp(),
    succeeded: () => ledger.succeeded(),
    learnStatus: () => ledger.learnStatus(),
    close: async () => {
      isClosed = true;
      requests.refuseAll(closedError());
      nap.wake();
      await ledger.close();
    },
  };
}

function closedError(): Error {
  return new Error('the API budget is closed');
}
