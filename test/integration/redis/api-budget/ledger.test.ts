import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { seededChance } from '../../../../src/base/chance.ts';
import type { BudgetClass, ServiceStatus } from '../../../../src/orchestrator/ports/api-budget.ts';
import {
  type ApiBudgetLedger,
  type ApiBudgetLedgerParts,
  apiBudgetKeys,
  makeApiBudgetLedger,
} from '../../../../src/redis/api-budget/ledger.ts';
import { makeReadApiBudgetStatus } from '../../../../src/redis/api-budget/read-status.ts';
import { makeRedisFaults } from '../../../../src/redis/connection/faults.ts';
import { ending } from '../../../support/ending.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { quietBudget } from '../../../support/redis/redis-adapters.ts';
import { settableTime, withSettableTime } from '../../../support/redis/settable-time.ts';

const redis = useRedis();
const accessId = 'suABCDEFG12345';
const minute = 60_000;

/** The budget that several daemons on one access key share. Its time passes only when the test says so. */
function aSharedBudget(parts: Partial<ApiBudgetLedgerParts> = {}) {
  const { commands, keyPrefix } = redis.place();
  const clock = settableTime(Date.UTC(2026, 4, 4));
  return {
    aLedger: (own: Partial<ApiBudgetLedgerParts> = {}) => {
      const timed = withSettableTime(redis.connect().commands, clock);
      const shared = { ...quietBudget, commands: timed, keyPrefix, accessId };
      return ending(makeApiBudgetLedger({ ...shared, ...parts, ...own }));
    },
    clock,
    pass: clock.pass,
    readStatus: (requestsPerSecond: number) =>
      makeReadApiBudgetStatus({
        commands: withSettableTime(commands, clock),
        keyPrefix,
        accessId,
        requestsPerSecond,
        clock: { now: () => Date.now() },
      }),
    fields: () => commands.hgetall(apiBudgetKeys(keyPrefix, accessId).state),
  };
}

/** The ledger's answer to a request for one place. */
async function answerTo(ledger: ApiBudgetLedger): Promise<string> {
  return (await ledger.reserve(1, 0)).kind;
}

/** This process's monotonic clock, which a test lets pass by as much as a request travels. */
function travelTime() {
  let travelledMs = 0;
  const realNow = performance.now.bind(performance);
  const now = vi.spyOn(performance, 'now').mockImplementation(() => realNow() + travelledMs);
  onTestFinished(() => now.mockRestore());
  return {
    pass: (ms: number) => {
      travelledMs += ms;
    },
  };
}

describe('a ledger whose command fails at a reachable Redis', () => {
  it('reports it once, waits, and continues when it works again', async () => {
    const { commands, keyPrefix } = redis.place();
    const { state } = apiBudgetKeys(keyPrefix, accessId);
    await commands.set(state, 'no hash');
    const reported: string[] = [];
    const faults = makeRedisFaults({
      onFault: (reason) => reported.push(reason),
      onOver: (what) => reported.push(what),
    });
    const parts = { ...quietBudget, commands, keyPrefix, accessId, faults };
    const ledger = ending(makeApiBudgetLedger(parts));
    for (let asked = 0; asked < 3; asked += 1)
      expect(await ledger.reserve(1, 0)).toMatchObject({
        kind: 'away',
        outage: 'Redis, which keeps the API budget, answers with an error. See the log.',
      });
    expect(reported).toHaveLength(1);
    expect(faults.reason()).toMatch(/^the API budget: .*WRONGTYPE/);
    await commands.del(state);
    expect(await answerTo(ledger)).toBe('granted');
    expect(faults.reason()).toBeNull();
  });
});

describe('permits', () => {
  it('of a killed daemon expire when none of its requests can still be in flight', async () => {
    const { aLedger, pass } = aSharedBudget({ concurrentRequests: 2, permitLifeMs: 10 * minute });
    const [killed, other] = [aLedger(), aLedger()];
    for (let taken = 0; taken < 2; taken += 1) expect(await answerTo(killed)).toBe('granted');
    expect(await answerTo(other)).toBe('full');
    pass(9 * minute);
    expect(await answerTo(other)).toBe('full');
    pass(minute + 1);
    expect(await answerTo(other)).toBe('granted');
  });
});

describe('a slot with slack', () => {
  it('delays all other slots by its slack, however many places it has (P8)', async () => {
    const { aLedger, fields } = aSharedBudget();
    const [starved, other] = [aLedger(), aLedger()];
    const nextUs = async () => Number((await fields())['nextUs']);
    await other.reserve(1, 0);
    const before = await nextUs();
    expect(await starved.reserve(8, 900)).toMatchObject({ kind: 'granted' });
    expect((await nextUs()) - before).toBeGreaterThan(900_000);
    // An unused slot must not look like a clock that was set back.
    const after = await nextUs();
    await other.reserve(1, 0);
    expect(await nextUs()).toBeGreaterThanOrEqual(after);
  });
});

describe('a request that leaves late', () => {
  it('keeps a second to the one that comes as many slots later as a second has (P8)', async () => {
    const { aLedger, pass } = aSharedBudget({ requestsPerSecond: 4 });
    const ledger = aLedger();
    const take = async () => {
      const reservation = await ledger.reserve(1, 0);
      if (reservation.kind !== 'granted') return reservation.kind;
      for (const slot of reservation.slots) ledger.giveBack(slot);
      return reservation.slots[0];
    };
    const first = await take();
    if (typeof first !== 'object') throw new Error(String(first));
    pass(200);
    ledger.left({ ...first, at: performance.now() - 200 }, 'create');
    pass(60);
    for (let slot = 2; slot <= 4; slot += 1) {
      expect(await take()).toMatchObject({ number: slot });
      pass(260);
    }
    // 1,040 ms after the first slot, and 840 ms after its request.
    expect(await take()).toBe('far');
    pass(190);
    expect(await take()).toMatchObject({ number: 5 });
  });

  it.each([
    { budgetClass: 'create', next: 'far' },
    { budgetClass: 'page', next: 'sent' },
  ] as const)(
    'or was answered unusually late keeps a second as well, unless it reads a list: $budgetClass (P8)',
    async (given) => {
      const { aLedger, pass } = aSharedBudget({ requestsPerSecond: 4 });
      const ledger = aLedger();
      const travel = travelTime();
      const send = async (budgetClass: BudgetClass, tookMs: number) => {
        const reservation = await ledger.reserve(1, 0);
        if (reservation.kind !== 'granted') return reservation.kind;
        for (const slot of reservation.slots) {
          ledger.left({ ...slot, at: performance.now() }, budgetClass);
          travel.pass(tookMs);
          pass(tookMs);
          ledger.giveBack(slot);
        }
        return 'sent';
      };
      for (let request = 0; request < 20; request += 1) {
        expect(await send('poll', 5)).toBe('sent');
        pass(1_000);
      }
      expect(await send(given.budgetClass, 200)).toBe('sent');
      pass(60);
      for (let request = 0; request < 3; request += 1) {
        expect(await send('poll', 5)).toBe('sent');
        pass(255);
      }
      // 1,040 ms after the slot, and 840 ms after the answer.
      expect(await send('poll', 5)).toBe(given.next);
    },
  );

  it.each([0, 5])('moves nothing when it is %i ms late, which the margin covers', async (lateMs) => {
    const { aLedger, pass } = aSharedBudget({ requestsPerSecond: 4 });
    const ledger = aLedger();
    for (let slot = 1; slot <= 5; slot += 1) {
      const reservation = await ledger.reserve(1, 0);
      if (reservation.kind !== 'granted') throw new Error(`${slot}: ${reservation.kind}`);
      for (const each of reservation.slots) {
        ledger.left({ ...each, at: performance.now() - lateMs }, 'create');
        ledger.giveBack(each);
      }
      pass(260);
    }
  });
});

describe('the margin between slots', () => {
  it.each([
    { network: 'without jitter', tookMs: () => 5, spacingMs: 260 },
    { network: 'with 20 ms of jitter', tookMs: (number: number) => number % 21, spacingMs: 265 },
  ])('leaves a second room for how unevenly requests travel: $network (P8)', async (given) => {
    const { aLedger, fields, clock, pass } = aSharedBudget({ requestsPerSecond: 4 });
    const ledger = aLedger();
    const travel = travelTime();
    const spacingMs = async (): Promise<number> => {
      pass(1_000);
      const reservation = await ledger.reserve(1, 0);
      if (reservation.kind !== 'granted') throw new Error(reservation.kind);
      for (const slot of reservation.slots) {
        ledger.left({ ...slot, at: performance.now() }, 'poll');
        travel.pass(given.tookMs(slot.number));
        ledger.giveBack(slot);
      }
      // The slot is 10 ms old: the oldest that is granted.
      return Number((await fields())['nextUs']) / 1_000 - (clock.now() - 10);
    };
    // Nothing is known of the network yet.
    expect(await spacingMs()).toBeCloseTo(270, 0);
    for (let request = 0; request < 63; request += 1) await spacingMs();
    expect(Math.abs((await spacingMs()) - given.spacingMs)).toBeLessThan(1);
  });
});

describe('a pause', () => {
  it('stops all daemons; ten concurrent 429s count as one (P8)', async () => {
    const pauseGrowth = { firstMs: 10 * minute, maxMs: 60 * minute };
    const { aLedger, pass, fields } = aSharedBudget({ pauseGrowth });
    const daemons = [aLedger(), aLedger()] as const;
    await Promise.all(Array.from({ length: 10 }, () => daemons[0].pause({ kind: 'rate', forMs: 0 })));
    expect(await Promise.all(daemons.map(answerTo))).toEqual(['paused', 'paused']);
    expect(await fields()).toMatchObject({ growthMs: String(10 * minute) });
    pass(9 * minute);
    expect(await Promise.all(daemons.map(answerTo))).toEqual(['paused', 'paused']);
    pass(minute);
    expect(await Promise.all(daemons.map(answerTo))).toEqual(['granted', 'granted']);
  });

  it.each([
    ['as long as the service asked for', 20 * minute, 20 * minute],
    ['an hour at most, whatever the service asks for', 400 * 24 * 60 * minute, 60 * minute],
  ])('lasts %s', async (_how, forMs, lastsMs) => {
    const { aLedger, pass } = aSharedBudget({ pauseGrowth: { firstMs: 1, maxMs: 1 } });
    const ledger = aLedger();
    expect(await ledger.pause({ kind: 'rate', forMs })).toBe(lastsMs);
    pass(lastsMs - minute);
    expect(await answerTo(ledger)).toBe('paused');
    pass(minute);
    expect(await answerTo(ledger)).toBe('granted');
  });

  it.each(['rate', 'down'] as const)(
    'grows while no request succeeds, up to a bound, and starts again after a success (%s)',
    async (kind) => {
      const pauseGrowth = { firstMs: 10 * minute, maxMs: 35 * minute };
      const { aLedger, pass, fields } = aSharedBudget({ pauseGrowth });
      const ledger = aLedger();
      const refuse = () => ledger.pause(kind === 'down' ? { kind, reason: '503' } : { kind, forMs: 0 });
      const lastedMs: number[] = [];
      for (let count = 0; count < 4; count += 1) {
        lastedMs.push(await refuse());
        pass(35 * minute);
      }
      expect(lastedMs).toEqual([10, 20, 35, 35].map((minutes) => minutes * minute));
      await ledger.succeeded();
      expect(await fields()).not.toHaveProperty('growthMs');
      expect(await refuse()).toBe(10 * minute);
    },
  );

  it('during an outage does not change the rate', async () => {
    const { aLedger, fields } = aSharedBudget();
    await aLedger().pause({ kind: 'down', reason: '503' });
    expect(await fields()).not.toHaveProperty('limitedShare');
  });
});

describe('the rate after a 429', () => {
  const requestsPerSecond = 20;

  function aLimitedBudget() {
    const shared = aSharedBudget({ requestsPerSecond, pauseGrowth: { firstMs: 1, maxMs: 1 } });
    const ledger = shared.aLedger();
    const readStatus = shared.readStatus(requestsPerSecond);
    const limit = async () => {
      await ledger.pause({ kind: 'rate', forMs: 0 });
      shared.pass(2);
    };
    const allowed = async () => Math.round((await readStatus()).requestsPerSecondNow);
    return { ...shared, limit, allowed };
  }

  it('is whole again within half a minute after a single one', async () => {
    const { limit, allowed, pass } = aLimitedBudget();
    for (let times = 0; times < 2; times += 1) {
      await limit();
      expect(await allowed()).toBe(16);
      pass(30_000);
      expect(await allowed()).toBe(20);
    }
  });

  it('drops by a fifth for each 429, and recovers fully in less than six minutes', async () => {
    const { limit, allowed, pass } = aLimitedBudget();
    expect(await allowed()).toBe(20);
    for (let times = 0; times < 3; times += 1) await limit();
    const seen: number[] = [];
    for (let minutes = 0; minutes < 6; minutes += 1) {
      seen.push(await allowed());
      pass(minute);
    }
    expect(seen).toEqual([10, 13, 13, 15, 20, 20]);
  });

  it('no longer drops when few 429s come at any rate, until they are many', async () => {
    const { aLedger, limit, allowed, pass } = aLimitedBudget();
    const ledger = aLedger();
    const requestsBetween = async (count: number): Promise<void> => {
      for (let sent = 0; sent < count; sent += 1) {
        const reservation = await ledger.reserve(1, 0);
        if (reservation.kind !== 'granted') throw new Error(reservation.kind);
        for (const slot of reservation.slots) ledger.giveBack(slot);
        pass(600);
      }
    };
    const seen: number[] = [];
    for (let times = 0; times < 14; times += 1) {
      await limit();
      seen.push(await allowed());
      await requestsBetween(10);
    }
    // One of ten requests is refused at each rate, so the rate is not the cause.
    expect(seen.slice(0, 9)).toEqual(seen.slice(0, 9).toSorted((a, b) => b - a));
    expect(Math.min(...seen)).toBe(3);
    pass(30_000);
    expect(await allowed()).toBe(20);
    await limit();
    expect(await allowed()).toBe(20);
    for (let times = 0; times < 20; times += 1) await limit();
    expect(await allowed()).toBeLessThan(10);
  });

  it.each([0, 1_000])(
    'lets a thousand requests take at most twice the time where one of 20 is refused at any rate, with a pause of %i ms',
    async (forMs) => {
      const { aLedger, pass, clock } = aSharedBudget({ requestsPerSecond: 4 });
      const ledger = aLedger();
      const chance = seededChance(7);
      const requests = 1_000;
      const beganAt = clock.now();
      for (let sent = 0; sent < requests; ) {
        const reservation = await ledger.reserve(1, 0);
        if (reservation.kind !== 'granted') {
          pass('retryInMs' in reservation ? Math.max(1, reservation.retryInMs) : 1);
          continue;
        }
        for (const slot of reservation.slots) ledger.giveBack(slot);
        if (chance() < 0.05) await ledger.pause({ kind: 'rate', forMs });
        else {
          await ledger.succeeded();
          sent += 1;
        }
      }
      expect((clock.now() - beganAt) / (requests * 250)).toBeLessThan(2);
    },
  );

  it('is never below a tenth, however many 429s there are', async () => {
    const { limit, allowed, pass } = aLimitedBudget();
    for (let times = 0; times < 20; times += 1) await limit();
    expect(await allowed()).toBe(2);
    pass(6 * minute);
    expect(await allowed()).toBe(20);
  });

  it('determines the spacing of all daemons', async () => {
    const { aLedger, limit } = aLimitedBudget();
    const daemons = [aLedger(), aLedger()] as const;
    // 52 ms later, which is near enough to be given.
    expect(await Promise.all(daemons.map(answerTo))).toEqual(['granted', 'granted']);
    for (let times = 0; times < 20; times += 1) await limit();
    // The later one 520 ms later, whichever that is.
    expect((await Promise.all(daemons.map(answerTo))).toSorted()).toEqual(['far', 'granted']);
  });
});

describe('a service that is down', () => {
  const reason = 'getUpgradeTask: answered 503.';

  async function aWatchedLedger() {
    const shared = aSharedBudget({ pauseGrowth: { firstMs: 10 * minute, maxMs: 10 * minute } });
    const reported: ServiceStatus[] = [];
    const ledger = shared.aLedger({ onStatus: (standing) => reported.push(standing) });
    return { ...shared, ledger, reported };
  }

  it('is up again after a success, unless that request was sent before the pause', async () => {
    const { ledger, reported, pass } = await aWatchedLedger();
    await ledger.pause({ kind: 'down', reason });
    await ledger.succeeded();
    await ledger.serviceUp();
    expect(reported).toEqual([{ isUp: false, reason }]);
    pass(10 * minute);
    expect(await ledger.reserve(1, 0)).toMatchObject({ kind: 'granted', isProbe: true });
    await ledger.succeeded();
    expect(reported).toEqual([{ isUp: false, reason }, { isUp: true }]);
  });

  it('is up after any answer, and the next pause starts at its first length', async () => {
    const { ledger, reported, pass, fields } = await aWatchedLedger();
    await ledger.pause({ kind: 'down', reason });
    pass(10 * minute);
    await ledger.serviceUp();
    expect(reported.at(-1)).toEqual({ isUp: true });
    expect(await fields()).not.toHaveProperty('growthMs');
  });

  it('that refuses a sign-in is up, and allows one sign-in at a time', async () => {
    const { ledger, reported, pass, fields } = await aWatchedLedger();
    await ledger.pause({ kind: 'down', reason });
    pass(10 * minute);
    await ledger.serviceUp();
    await ledger.pause({ kind: 'single', forMs: 0 });
    pass(10 * minute);
    await ledger.serviceUp();
    expect(await fields()).toMatchObject({ single: '1' });
    expect(reported.at(-1)).toEqual({ isUp: true });
  });
});
