import { afterEach, describe, expect, it } from 'vitest';
import type { BudgetClass, BudgetGrant } from '../../src/orchestrator/api-budget.ts';
import type { ApiBudgetLedgerParts } from '../../src/redis/api-budget-ledger.ts';
import { makeRedisApiBudget, type RedisApiBudget } from '../../src/redis/redis-api-budget.ts';
import { useRedis } from '../support/redis.ts';

const redis = useRedis();
const budgets: RedisApiBudget[] = [];
const accessId = 'suABCDEFG12345';

afterEach(async () => {
  await Promise.all(budgets.splice(0).map((budget) => budget.close()));
});

function aBudget(keyPrefix: string, parts: Partial<ApiBudgetLedgerParts> = {}): RedisApiBudget {
  const budget = makeRedisApiBudget({
    commands: redis.connect().commands,
    keyPrefix,
    accessId,
    requestsPerSecond: 400,
    ...parts,
  });
  budgets.push(budget);
  return budget;
}

/** Takes and gives back at once, so many times. @returns the instants of the grants */
async function takeMany(
  budget: RedisApiBudget,
  count: number,
  budgetClass: BudgetClass = 'look',
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

  it('is never exceeded in any second, at 4 a second (P8)', async () => {
    const { keyPrefix } = redis.config();
    const slow = { requestsPerSecond: 4 };
    const daemons = [aBudget(keyPrefix, slow), aBudget(keyPrefix, slow)];
    const instants = (await Promise.all(daemons.map((daemon) => takeMany(daemon, 4)))).flat();
    expect(mostWithin(instants, 1_000)).toBeLessThanOrEqual(4);
  });

  it('is spaced further after a 429, by what Redis remembers for all', async () => {
    const { keyPrefix } = redis.config();
    const budget = aBudget(keyPrefix, { pauseGrowth: { firstMs: 1, maxMs: 1 } });
    await budget.pause({ forMs: 1, single: false });
    await budget.pause({ forMs: 0, single: false });
    await takeMany(budget, 5);
    const [state] = await redis.connect().commands.keys(`${keyPrefix}:*:state`);
    expect(Number(await redis.connect().commands.hget(state ?? '', 'extra'))).toBeGreaterThan(0.01);
  });

  it('is not caught up after a stall', async () => {
    const { keyPrefix } = redis.config();
    const budget = aBudget(keyPrefix, { requestsPerSecond: 50 });
    const before = await takeMany(budget, 3);
    const until = performance.now() + 200;
    const takers = takeMany(budget, 8);
    while (performance.now() < until) {
      // Nothing else runs meanwhile, as in a process that was stopped.
    }
    const after = await takers;
    // Ten slots went by; those who waited get new ones, evenly, and not all at once.
    expect(mostWithin([...before, ...after], 40)).toBeLessThanOrEqual(3);
  });
});

describe('concurrent requests', () => {
  it('are never more than allowed, over all daemons (P8)', async () => {
    const { keyPrefix } = redis.config();
    const parts = { concurrentRequests: 3 };
    const daemons = [aBudget(keyPrefix, parts), aBudget(keyPrefix, parts)];
    let open = 0;
    let most = 0;
    const request = async (daemon: RedisApiBudget) => {
      const grant = await daemon.take('look');
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setTimeout(resolve, 15));
      open -= 1;
      grant.giveBack();
    };
    await Promise.all(daemons.flatMap((daemon) => Array.from({ length: 20 }, () => request(daemon))));
    expect(most).toBe(3);
  });

  it('of a daemon that was killed come back by themselves', async () => {
    const { keyPrefix } = redis.config();
    const parts = { concurrentRequests: 2, permitLifeMs: 150 };
    const killed = aBudget(keyPrefix, parts);
    await killed.take('look');
    await killed.take('look');
    const grant = await aBudget(keyPrefix, parts).take('operator');
    expect(grant.waitedMs).toBeGreaterThan(50);
  });

  it('are given back once, however often that is said', async () => {
    const { keyPrefix } = redis.config();
    const budget = aBudget(keyPrefix, { concurrentRequests: 1 });
    const first = await budget.take('look');
    first.giveBack();
    first.giveBack();
    const second = await budget.take('look');
    let third: BudgetGrant | undefined;
    const taking = budget.take('look').then((grant) => {
      third = grant;
    });
    first.giveBack();
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(third).toBeUndefined();
    second.giveBack();
    await taking;
  });
});

describe('the order of those who wait', () => {
  it('is chosen when the slot is there: operator, verify, create, and each fourth turn the oldest look', async () => {
    const budget = aBudget(redis.config().keyPrefix, { concurrentRequests: 1, requestsPerSecond: 1_000 });
    const blocker = await budget.take('look');
    const order: string[] = [];
    const take = async (budgetClass: BudgetClass) => {
      const grant = await budget.take(budgetClass);
      order.push(budgetClass);
      grant.giveBack();
    };
    const classes: BudgetClass[] = [
      'page',
      'look',
      'create',
      'create',
      'create',
      'create',
      'verify',
      'operator',
    ];
    const takers = classes.map(take);
    blocker.giveBack();
    await Promise.all(takers);
    expect(order).toEqual(['operator', 'verify', 'create', 'page', 'create', 'create', 'create', 'look']);
  });

  it('loses the one that is aborted, and no slot with it', async () => {
    const budget = aBudget(redis.config().keyPrefix, { concurrentRequests: 1 });
    const blocker = await budget.take('look');
    const leaving = new AbortController();
    const left = budget.take('operator', leaving.signal);
    const stays = budget.take('look');
    leaving.abort(new Error('we are closing'));
    await expect(left).rejects.toThrow('we are closing');
    blocker.giveBack();
    (await stays).giveBack();
    await expect(budget.take('look', leaving.signal)).rejects.toThrow('we are closing');
  });

  it('is empty after a close: who waits is refused, and what was held goes back', async () => {
    const { keyPrefix } = redis.config();
    const parts = { concurrentRequests: 1 };
    const budget = aBudget(keyPrefix, parts);
    await budget.take('look');
    const waiting = expect(budget.take('look')).rejects.toThrow('closed');
    await budget.close();
    await waiting;
    (await aBudget(keyPrefix, parts).take('look')).giveBack();
  });
});

describe('a pause', () => {
  it('stops all daemons for its time, ten refusals at once being one (P8)', async () => {
    const { keyPrefix } = redis.config();
    const pauseGrowth = { firstMs: 100, maxMs: 5_000 };
    const [one, two] = [aBudget(keyPrefix, { pauseGrowth }), aBudget(keyPrefix, { pauseGrowth })];
    await takeMany(two, 2);
    const pausedAt = performance.now();
    await Promise.all(Array.from({ length: 10 }, () => one.pause({ forMs: 0, single: false })));
    const instants = (await Promise.all([takeMany(one, 2), takeMany(two, 2)])).flat();
    expect(Math.min(...instants) - pausedAt).toBeGreaterThanOrEqual(98);
    const [state] = await redis.connect().commands.keys(`${keyPrefix}:*:state`);
    expect(await redis.connect().commands.hget(state ?? '', 'growthMs')).toBe('100');
  });

  it('grows while no request succeeds, and begins anew after one', async () => {
    const { keyPrefix } = redis.config();
    const budget = aBudget(keyPrefix, { pauseGrowth: { firstMs: 10, maxMs: 35 } });
    const commands = redis.connect().commands;
    const growths: Array<string | null> = [];
    for (let count = 0; count < 4; count += 1) {
      await budget.pause({ forMs: 0, single: false });
      await takeMany(budget, 1);
      const [state] = await commands.keys(`${keyPrefix}:*:state`);
      growths.push(await commands.hget(state ?? '', 'growthMs'));
    }
    expect(growths).toEqual(['10', '20', '35', '35']);
    await budget.succeeded();
    const [state] = await commands.keys(`${keyPrefix}:*:state`);
    expect(await commands.hget(state ?? '', 'growthMs')).toBeNull();
  });

  it('lasts as long as the service asked for', async () => {
    const budget = aBudget(redis.config().keyPrefix, { pauseGrowth: { firstMs: 1, maxMs: 1 } });
    const pausedAt = performance.now();
    await budget.pause({ forMs: 120, single: false });
    const [instant = 0] = await takeMany(budget, 1);
    expect(instant - pausedAt).toBeGreaterThanOrEqual(118);
  });

  it('of the single kind lets one request try for all, until one succeeds', async () => {
    const { keyPrefix } = redis.config();
    const parts = { pauseGrowth: { firstMs: 1, maxMs: 1 } };
    const [one, two] = [aBudget(keyPrefix, parts), aBudget(keyPrefix, parts)];
    await one.pause({ forMs: 20, single: true });
    const granted: BudgetGrant[] = [];
    const takers = [one, two, one, two].map(async (daemon) => {
      granted.push(await daemon.take('look'));
    });
    await expect.poll(() => granted.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(granted).toHaveLength(1);
    // It failed: the next one tries, alone again.
    granted[0]?.giveBack();
    await expect.poll(() => granted.length).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(granted).toHaveLength(2);
    await one.succeeded();
    await two.succeeded();
    await Promise.all(takers);
    for (const grant of granted) grant.giveBack();
  });
});

it('writes neither the access id nor anything like it to Redis (P12)', async () => {
  const { keyPrefix } = redis.config();
  const commands = redis.connect().commands;
  const grant = await aBudget(keyPrefix).take('look');
  const keys = await commands.keys(`${keyPrefix}:*`);
  expect(keys.length).toBeGreaterThan(0);
  for (const key of keys) {
    const content = key.endsWith('state')
      ? await commands.hgetall(key)
      : await commands.zrange(key, '0', '-1');
    expect(`${key} ${JSON.stringify(content)}`).not.toContain(accessId);
  }
  grant.giveBack();
});
