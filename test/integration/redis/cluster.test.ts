import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeRedisApiBudget } from '../../../src/redis/api-budget/api-budget.ts';
import { makeRedisConnection, type RedisConnection } from '../../../src/redis/connection/connection.ts';
import { makeRedisLeaderLease } from '../../../src/redis/coordination/leader-lease.ts';
import { makeRedisWakeUps } from '../../../src/redis/coordination/wake-ups.ts';
import { anUpgrade, aRollout, startedAt } from '../../support/builders.ts';
import { aRedisRegister, aRedisStore, quietBudget, quietLease } from '../../support/redis/redis-adapters.ts';
import { loseSlot, startCluster } from '../../support/redis/redis-cluster.ts';
import { type RedisProcess, redisServerCommand } from '../../support/redis/redis-process.ts';
import { admitted, aPlan, intended, loadView, rolloutChange } from '../../support/store/store-changes.ts';
import { until } from '../../support/until.ts';

const keyPrefix = 'upwave';

// One node with all slots refuses a script whose keys are in several slots just as ten would.
describe.skipIf(redisServerCommand === undefined)('on a Redis Cluster', () => {
  let connection: RedisConnection;
  let subscriber: RedisConnection;
  let server: RedisProcess;
  const connect = (notes: Parameters<typeof makeRedisConnection>[2] = {}) => {
    const config = { cluster: [{ host: '127.0.0.1', port: server.port }], keyPrefix };
    return makeRedisConnection(config, 'worker', notes);
  };

  beforeAll(async () => {
    server = await startCluster();
    connection = connect();
    subscriber = connect();
  });
  afterAll(async () => {
    await Promise.all([connection?.close(), subscriber?.close()]);
    await server?.close();
  });

  it('keeps all keys of a policy in one slot, so that every script runs', async () => {
    const store = aRedisStore({ commands: connection.commands, keyPrefix });
    const before = anUpgrade({ state: 'pending' });
    expect(await store.freeze(aPlan([before]))).toBe('frozen');
    const admission = { rolloutId: before.identity.rolloutId, rolloutRev: 1, slots: 1, domains: [] };
    expect(await store.admit({ ...admission, changes: [admitted(before)] }, 1)).toEqual([1]);
    expect(await store.saveIntent(intended(admitted(before).after), 1)).toBe('saved');
    expect((await loadView(store)).slotsTaken).toBe(1);
    const joined = aPlan([before], { rollout: aRollout({ rev: 2 }) });
    expect(await store.join(joined, 1, 1)).toBe('saved');
    expect(await store.replan({ ...joined, rollout: aRollout({ rev: 3 }) }, 2)).toBe('stale');
    expect(await store.activeRolloutIds(['production', 'other'])).toEqual([before.identity.rolloutId]);
    const ending = rolloutChange(joined.rollout, { state: 'aborted', endedAt: startedAt });
    expect(await store.saveRollout(ending, 1)).toBe('saved');
    expect(await store.listRollouts(['production', 'other'])).toHaveLength(1);
  });

  it('gives keys that belong to no rollout a slot', async () => {
    const register = aRedisRegister({ commands: connection.commands, keyPrefix });
    const word = { by: 'ann', reason: 'leaks', at: startedAt };
    expect(await register.holdBuild({ build: '19.536-4', ...word })).toBe('held');
    await register.audit({ event: 'build.held', subject: '19.536-4', ...word });
    expect(await register.readAudit(5)).toHaveLength(1);
    expect(await register.firstSeen(['19.536-4'], startedAt)).toEqual(new Map([['19.536-4', startedAt]]));
    expect(await register.releaseBuild('19.536-4')).toBe('released');
  });

  it('gives the lease, the budget and the wake-ups their slots too', async () => {
    const { commands } = connection;
    const lease = makeRedisLeaderLease({ ...quietLease, commands, keyPrefix });
    expect(await lease.hold()).toBeGreaterThan(0);
    await lease.release();
    const budget = makeRedisApiBudget({ ...quietBudget, commands, keyPrefix });
    (await budget.take('poll')).giveBack();
    await budget.pause({ forMs: 1, single: true });
    await budget.succeeded();
    await budget.close();
    const ringing = makeRedisWakeUps({ publisher: connection, subscriber, keyPrefix });
    const listening = makeRedisWakeUps({ publisher: connection, subscriber, keyPrefix });
    let rings = 0;
    listening.onWakeUp(() => {
      rings += 1;
    });
    await expect
      .poll(() => {
        ringing.wake();
        return rings;
      })
      .toBeGreaterThan(0);
  });

  it('delays a command until the cluster is complete again, and reports it (P11)', async () => {
    const reported: string[] = [];
    const waiting = connect({ onTransient: ({ message }) => reported.push(message) });
    onTestFinished(() => waiting.close());
    await waiting.commands.ping();
    await loseSlot(server);
    let answer = 'none yet';
    const asked = waiting.commands.set('kept', 'yes').then((ok) => {
      answer = ok;
    });
    // The library's own retryBounds is 16 refusals.
    await until('many refusals', () => reported.length > 20);
    expect(answer).toBe('none yet');
    expect(reported.every((words) => words.startsWith('CLUSTERDOWN'))).toBe(true);
    await server.ask('CLUSTER ADDSLOTS 0');
    await asked;
    expect(answer).toBe('OK');
  });
});
