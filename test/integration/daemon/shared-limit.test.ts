import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { sleepForReal } from '../../../src/base/waiting.ts';
import { makeFleetAccess } from '../../../src/daemon/fleet-access.ts';
import { makeRedisApiBudget } from '../../../src/redis/api-budget/api-budget.ts';
import { makeReadApiBudgetStatus } from '../../../src/redis/api-budget/read-status.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { basic, openReferenceService } from '../../support/reference-client.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();
const clock = { now: () => Date.now() };
const requestsPerSecond = 100;

/** One daemon's way to a service whose limit it shares with another key of the same user. */
async function aSharedLimit() {
  const { service, send } = await openReferenceService(
    {
      limits: { requestsPerSecond },
      keys: [{ accessId: 'dashboard', accessKey: 'k', user: 'owner' }],
    },
    { clock },
  );
  const { commands, keyPrefix } = redis.place();
  const shared = { commands, keyPrefix, accessId: 'anid', requestsPerSecond, rateRecoveryMs: 1_000 };
  const budget = makeRedisApiBudget({ ...shared, pauseGrowth: { firstMs: 50, maxMs: 50 } });
  const { fleet, close } = makeFleetAccess({
    service: {
      baseUrl: service.baseUrl,
      accessId: new Secret('anid'),
      accessKey: new Secret('akey'),
      allowedHosts: [],
      concurrentRequests: 10,
      budgetShare: 1,
      requestTimeoutMs: 5_000,
      requestsPerSecond,
    },
    budget,
    clock,
    sink: { report: () => undefined, note: () => undefined },
  });
  const readStatus = makeReadApiBudgetStatus({ ...shared, clock });
  const stopped = new AbortController();
  const outcomes = { ok: 0, throttled: 0 };
  const work = async () => {
    while (!stopped.signal.aborted) outcomes[(await fleet.listBuilds()).ok ? 'ok' : 'throttled'] += 1;
  };
  const workers = Array.from({ length: 6 }, work);
  onTestFinished(async () => {
    stopped.abort();
    await Promise.all(workers);
    await close();
    await budget.close();
  });
  const authorization = basic({ accessId: 'dashboard', accessKey: 'k' });
  return {
    outcomes,
    allowed: async () => (await readStatus()).requestsPerSecondNow,
    /** Another tool, which sends without regard to its answers until the signal is aborted. */
    otherSends: async (everyMs: number, signal: AbortSignal) => {
      const sent: Array<Promise<unknown>> = [];
      for (; !signal.aborted; await sleepForReal(everyMs, signal))
        sent.push(send('/v1/collectors/upgrades/targets', { anonymous: true, headers: { authorization } }));
      await Promise.all(sent);
    },
  };
}

describe('a service whose limit another tool of the same user shares', () => {
  it('gets fewer requests while the other sends, and as many as before when it has stopped (P8)', async () => {
    const { outcomes, allowed, otherSends } = await aSharedLimit();
    const stopped = new AbortController();
    const other = otherSends(20, stopped.signal);
    onTestFinished(() => stopped.abort());
    await until('the rate to be lowered', async () => (await allowed()) < 70);
    const before = { ...outcomes };
    await until('many answers beside the other tool', () => outcomes.ok - before.ok > 300);
    expect(outcomes.throttled - before.throttled).toBeLessThan(30);
    stopped.abort();
    await other;
    await until('the whole rate', async () => (await allowed()) > 95);
  });
});
