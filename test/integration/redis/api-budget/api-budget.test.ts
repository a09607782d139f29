import { describe, expect, it } from 'vitest';
import type { BudgetClass, BudgetGrant } from '../../../../src/orchestrator/ports/api-budget.ts';
import {
  makeApiBudgetDispatcher,
  makeRedisApiBudget,
  type RedisApiBudget,
} from '../../../../src/redis/api-budget/api-budget.ts';
import { makeApiBudgetLedger, type Reservation } from '../../../../src/redis/api-budget/ledger.ts';
import { ending } from '../../../support/ending.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { quietBudget } from '../../../support/redis/redis-adapters.ts';
import { until } from '../../../support/until.ts';

const redis = useRedis();
const dayMs = 86_400_000;

type Parts = Parameters<typeof makeRedisApiBudget>[0];

function partsOf(keyPrefix: string, parts: Partial<Parts>): Parts {
  return { ...quietBudget, commands: redis.connect().commands, keyPrefix, ...parts };
}

function aBudget(keyPrefix: string, parts: Partial<Parts> = {}): RedisApiBudget {
  return ending(makeRedisApiBudget(partsOf(keyPrefix, parts)));
}

interface HeardBudget {
  readonly budget: RedisApiBudget;
  /** What Redis has answered this daemon, in turn. */
  readonly heard: readonly Reservation[];
}

/** A budget of which a test hears what Redis answers it. */
function aHeardBudget(keyPrefix: string, parts: Partial<Parts> = {}): HeardBudget {
  const allParts = partsOf(keyPrefix, parts);
  const ledger = makeApiBudgetLedger(allParts);
  const heard: Reservation[] = [];
  const budget = makeApiBudgetDispatcher({
    ...allParts,
    ledger: {
      ...ledger,
      reserve: async (...asked) => {
        const reservation = await ledger.reserve(...asked);
        heard.push(reservation);
        return reservation;
      },
    },
  });
  return { budget: ending(budget), heard };
}

/** Waits until Redis was asked for a place, after the call, and had none. @throws when it had one */
async function untilRefused(daemons: readonly HeardBudget[]): Promise<void> {
  const before = daemons.map(({ heard }) => heard.length);
  const answers = () =>
    daemons.flatMap(({ heard }, index) => heard.slice(before[index]).map(({ kind }) => kind));
  // Each asks one thing at a time, so of more answers than there are daemons one was asked for after the call.
  await until('places to be refused', () => answers().length > daemons.length, 10_000);
  expect(new Set(answers())).toEqual(new Set(['full']));
}

/** Takes and gives back at once, so many times. @returns the instants of the grants */
async function takeMany(
  budget: RedisApiBudget,
  count: number,
  budgetClass: BudgetClass = 'poll',
): Promise<number[]> {
  const instants: number[] = [];
  const takers = Array.from({ length: count }, async () => {
    const grant = await budget.take(budgetClass);
    instants.push(performance.now());
    grant.giveBack();
  });
  await Promise.all(takers);
  return instants;
}

function mostWithin(instants: readonly number[], windowMs: number): number {
  const sorted = instants.toSorted((a, b) => a - b);
  return Math.max(
    ...sorted.map((from) => sorted.filter((instant) => instant >= from && instant < from + windowMs).length),
  );
}

describe('the rate', () => {
  it('is never exceeded in any second by three daemons together, at 400 a second (P8)', async () => {
    const { keyPrefix } = redis.config();
    const daemons = [aBudget(keyPrefix), aBudget(keyPrefix), aBudget(keyPrefix)];
    const instants = (await Promise.all(daemons.map((daemon) => takeMany(daemon, 200)))).flat();
    expect(instants).toHaveLength(600);
    expect(mostWithin(instants, 1_000)).toBeLessThanOrEqual(404);
  });
});

describe('concurrent requests', () => {
  it('are never more than allowed, over all daemons (P8)', async () => {
    const { keyPrefix } = redis.config();
    const parts = { concurrentRequests: 3 };
    const daemons = [aHeardBudget(keyPrefix, parts), aHeardBudget(keyPrefix, parts)];
    const granted: BudgetGrant[] = [];
    const takers = daemons.flatMap(({ budget }) =>
      Array.from({ length: 10 }, async () => granted.push(await budget.take('poll'))),
    );
    for (let given = 0; given < takers.length - 3; given += 1) {
      await until('three to be out', () => granted.length >= given + 3);
      await untilRefused(daemons);
      expect(granted).toHaveLength(given + 3);
      granted[given]?.giveBack();
    }
    await Promise.all(takers);
  });

  it('are returned once, however often they are released', async () => {
    const { keyPrefix } = redis.config();
    const daemon = aHeardBudget(keyPrefix, { concurrentRequests: 1 });
    const { budget } = daemon;
    const first = await budget.take('poll');
    first.giveBack();
    first.giveBack();
    const second = await budget.take('poll');
    let third: BudgetGrant | undefined;
    const taking = budget.take('poll').then((grant) => {
      third = grant;
    });
    first.giveBack();
    await untilRefused([daemon]);
    expect(third).toBeUndefined();
    second.giveBack();
    await taking;
  });
});

describe('the order of waiting requests', () => {
  it('drops an aborted request without losing a slot', async () => {
    const budget = aBudget(redis.config().keyPrefix, { concurrentRequests: 1 });
    const blocker = await budget.take('poll');
    const leaving = new AbortController();
    const left = budget.take('operator', leaving.signal);
    const stays = budget.take('poll');
    leaving.abort(new Error('we are closing'));
    await expect(left).rejects.toThrow('we are closing');
    blocker.giveBack();
    (await stays).giveBack();
    await expect(budget.take('poll', leaving.signal)).rejects.toThrow('we are closing');
  });

  it('is empty after a close: waiting requests are refused, and permits are returned', async () => {
    const { keyPrefix } = redis.config();
    const parts = { concurrentRequests: 1 };
    const budget = aBudget(keyPrefix, parts);
    await budget.take('poll');
    const waiting = expect(budget.take('poll')).rejects.toThrow('closed');
    await budget.close();
    await waiting;
    (await aBudget(keyPrefix, parts).take('poll')).giveBack();
  });
});

async function stateOf(keyPrefix: string): Promise<{ key: string; fields: Record<string, string> }> {
  const commands = redis.connect().commands;
  const [key = ''] = await commands.keys(`${keyPrefix}:*:state`);
  return { key, fields: await commands.hgetall(key) };
}

describe('the length of a pause', () => {
  it('is zero when the clock was set back', async () => {
    const { keyPrefix } = redis.config();
    const budget = aBudget(keyPrefix);
    await takeMany(budget, 1);
    const { key } = await stateOf(keyPrefix);
    const aDayAhead = String((Date.now() + dayMs) * 1_000);
    await redis.connect().commands.hset(key, { pausedUntilUs: aDayAhead, single: '1', growthMs: '1000' });
    await takeMany(budget, 1);
    await budget.succeeded();
    expect((await stateOf(keyPrefix)).fields).not.toHaveProperty('single');
  });
});

it('keeps its keys in Redis for a week after the last request', async () => {
  const { commands, keyPrefix } = redis.place();
  const budget = aBudget(keyPrefix);
  const livesMs = async () =>
    Promise.all((await commands.keys(`${keyPrefix}:*`)).map((key) => commands.pttl(key)));
  // Held meanwhile, so that its permit stands in Redis, too.
  const grant = await budget.take('poll');
  const afterRequest = await livesMs();
  await budget.pause({ forMs: 1_000, single: true });
  const afterPause = await livesMs();
  grant.giveBack();
  expect([afterRequest.length, afterPause.length]).toEqual([2, 2]);
  for (const leftMs of [...afterRequest, ...afterPause]) {
    expect(leftMs).toBeGreaterThan(6.9 * dayMs);
    expect(leftMs).toBeLessThanOrEqual(7 * dayMs);
  }
});
