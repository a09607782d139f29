import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PausedTooLong } from '../../../../src/orchestrator/ports/api-budget.ts';
import { makeApiBudgetDispatcher } from '../../../../src/redis/api-budget/api-budget.ts';
import type { ApiBudgetLedger, Reservation } from '../../../../src/redis/api-budget/ledger.ts';
import { starvedFromMs } from '../../../../src/redis/api-budget/slot-slack.ts';
import { quietBudget } from '../../../support/redis/redis-adapters.ts';

const asked = 'The service asked for a pause.';

/** A ledger that answers what the instant is worth, by a clock that a test moves. */
function aLedger(reservationAt: (now: number) => Reservation): ApiBudgetLedger {
  return {
    reserve: async () => reservationAt(performance.now()),
    giveBack: () => undefined,
    left: () => undefined,
    pause: async () => 0,
    succeeded: async () => undefined,
    serviceUp: async () => undefined,
    learnStatus: async () => undefined,
    close: async () => undefined,
  };
}

const slotAt = (at: number): Reservation => ({
  kind: 'granted',
  slots: [{ permit: 'a permit', at, number: 1 }],
  single: false,
  isProbe: false,
});

describe('the dispatcher of the API budget', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  /** A budget without places until an instant. `reported`: which requests were granted or refused, in milliseconds from now. */
  function aHaltedBudget(
    halt: Omit<Exclude<Reservation, { kind: 'granted' }>, 'retryInMs'>,
    endsInMs: number,
  ) {
    const since = performance.now();
    const reported: Array<readonly [who: string, what: 'granted' | 'refused', afterMs: number]> = [];
    const ledger = aLedger((now) => {
      const leftMs = since + endsInMs - now;
      return leftMs <= 0 ? slotAt(now) : { ...halt, retryInMs: Math.min(leftMs, 5_000) };
    });
    const budget = makeApiBudgetDispatcher({ ...quietBudget, ledger, outageWaitMaxMs: 300 });
    const come = (who: string) => {
      const tell = (what: 'granted' | 'refused') => reported.push([who, what, performance.now() - since]);
      void budget.take('poll').then(
        () => tell('granted'),
        (reason: unknown) => {
          expect(reason).toEqual(new PausedTooLong(asked));
          tell('refused');
        },
      );
    };
    return { come, reported };
  }

  it('keeps each request for the longest wait during an outage, counted from its arrival', async () => {
    const { come, reported } = aHaltedBudget({ kind: 'paused', outage: asked }, 900);
    come('first');
    await vi.advanceTimersByTimeAsync(30);
    come('second');
    await vi.advanceTimersByTimeAsync(670);
    come('late');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(reported).toEqual([
      ['first', 'refused', 300],
      ['second', 'refused', 330],
      ['late', 'granted', 900],
    ]);
  });

  it('does not keep requests longer while one request probes the service', async () => {
    const { come, reported } = aHaltedBudget({ kind: 'full', outage: asked }, 60_000);
    come('first');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(reported).toEqual([['first', 'refused', 300]]);
  });

  it('does not keep requests longer while Redis does not answer, and continues when it does', async () => {
    const reported: string[] = [];
    let answer: (reservation: Reservation) => void = () => undefined;
    const ledger = {
      ...aLedger((now) => slotAt(now)),
      reserve: () => new Promise<Reservation>((resolve) => (answer = resolve)),
    };
    const budget = makeApiBudgetDispatcher({ ...quietBudget, ledger, outageWaitMaxMs: 5_000 });
    const come = (who: string) =>
      void budget.take('create').then(
        () => reported.push(`${who} granted`),
        (reason: unknown) => reported.push(`${who} ${String(reason)}`),
      );
    come('first');
    await vi.advanceTimersByTimeAsync(4_999);
    expect(reported).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(reported).toEqual(['first PausedTooLong: Redis, which keeps the API budget, does not answer.']);
    await vi.advanceTimersByTimeAsync(1_000);
    come('second');
    await vi.advanceTimersByTimeAsync(4_000);
    answer(slotAt(performance.now()));
    await vi.advanceTimersByTimeAsync(1);
    expect(reported.at(-1)).toBe('second granted');
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each(['full', 'far'] as const)(
    'refuses nobody while no outage is known (%s), however long it takes',
    async (kind) => {
      const anHour = 3_600_000;
      const { come, reported } = aHaltedBudget({ kind, outage: null }, anHour);
      come('first');
      await vi.advanceTimersByTimeAsync(anHour);
      expect(reported).toEqual([['first', 'granted', anHour]]);
    },
  );

  it('gives a slot at its instant, and never before', async () => {
    const since = performance.now();
    const budget = makeApiBudgetDispatcher({ ...quietBudget, ledger: aLedger(() => slotAt(since + 80.5)) });
    const waitedMs: number[] = [];
    const taking = budget.take('poll').then((grant) => waitedMs.push(grant.waitedMs));
    await vi.advanceTimersByTimeAsync(80);
    expect(waitedMs).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await taking;
    expect(waitedMs[0]).toBeGreaterThanOrEqual(80.5);
  });

  it.each([30, 100, 400])(
    'goes on in a process that is %i ms late for each of its places (P11)',
    async (lateMs) => {
      const slacksMs: number[] = [];
      const reported: number[] = [];
      const ledger: ApiBudgetLedger = {
        ...aLedger(slotAt),
        reserve: async (_count, slackMs) => {
          slacksMs.push(slackMs);
          const slot = slotAt(performance.now());
          await new Promise((resolve) => setTimeout(resolve, lateMs));
          return slot;
        },
      };
      const budget = makeApiBudgetDispatcher({
        ...quietBudget,
        ledger,
        onStarved: (late) => reported.push(late),
      });
      let granted = 0;
      for (let call = 0; call < 20; call += 1) void budget.take('poll').then(() => (granted += 1));
      await vi.advanceTimersByTimeAsync(60_000);
      expect(granted).toBe(20);
      // Three failedPolls show that it is no stall, and from then on nothing is reserved in vain.
      expect(slacksMs).toHaveLength(23);
      expect(slacksMs.slice(3).every((slackMs) => slackMs + 20 >= lateMs)).toBe(true);
      expect(reported).toEqual(lateMs < starvedFromMs ? [] : [lateMs]);
    },
  );

  it('leaves a slot unused when the machine was suspended since its reservation (P8)', async () => {
    let reservations = 0;
    const suspend = () => vi.setSystemTime(Date.now() + 6_000);
    const ledger = aLedger(slotAt);
    const given: string[] = [];
    const budget = makeApiBudgetDispatcher({
      ...quietBudget,
      ledger: {
        ...ledger,
        giveBack: ({ permit }) => void given.push(permit),
        reserve: async () => {
          reservations += 1;
          if (reservations === 1) suspend();
          return slotAt(performance.now() + 50);
        },
      },
    });
    const since = performance.now();
    const taking = budget.take('poll').then(() => performance.now() - since);
    await vi.advanceTimersByTimeAsync(20);
    expect(given).toEqual(['a permit']);
    suspend();
    await vi.advanceTimersByTimeAsync(200);
    expect(given).toHaveLength(2);
    expect(await taking).toBeGreaterThanOrEqual(100);
  });

  it('leaves a slot unused that was reserved before a pause, from the moment this process knows of it', async () => {
    const since = performance.now();
    let reservations = 0;
    const ledger = aLedger(() => {
      reservations += 1;
      return slotAt(since + (reservations === 1 ? 50 : 2_000));
    });
    const budget = makeApiBudgetDispatcher({
      ...quietBudget,
      ledger: { ...ledger, pause: async () => 1_000 },
    });
    const taking = budget.take('create');
    await vi.advanceTimersByTimeAsync(10);
    await budget.pause({ forMs: 1_000, single: false });
    await vi.advanceTimersByTimeAsync(3_000);
    expect((await taking).waitedMs).toBe(2_000);
  });
});
