import { once } from 'node:events';
import { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { invariant } from '../../../src/base/assert.ts';
import { makeRedisApiBudget } from '../../../src/redis/api-budget/api-budget.ts';
import { makeRedisConnection, type RedisConnection } from '../../../src/redis/connection/connection.ts';
import { makeRedisFleetRegister } from '../../../src/redis/coordination/fleet-register.ts';
import { makeRedisLeaderLease } from '../../../src/redis/coordination/leader-lease.ts';
import { makeRedisWakeUps } from '../../../src/redis/coordination/wake-ups.ts';
import { makeRedisRolloutStore } from '../../../src/redis/rollout-store/rollout-store.ts';
import { anUpgrade, aRollout, someGroups, startedAt } from '../../support/builders.ts';
import { makeRedisProcess, redisServerCommand } from '../../support/redis/redis-process.ts';
import { until } from '../../support/until.ts';

const keyPrefix = 'upwave';

// One node with all slots refuses a script whose keys are in several slots just as ten would.
describe.skipIf(redisServerCommand === undefined)('on a Redis Cluster', () => {
  let connection: RedisConnection;
  let subscriber: RedisConnection;
  let stop: () => Promise<void>;
  let ask: (command: string) => Promise<string | undefined>;
  let port: number;

  beforeAll(async () => {
    const args = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'];
    const server = await makeRedisProcess({ args });
    stop = () => server.close();
    port = server.port;
    ask = (line) => server.ask(line);
    await server.start();
    await ask('CLUSTER ADDSLOTSRANGE 0 16383');
    await until('all slots to be served', async () => (await ask('SET ready yes')) === '+OK');
    const config = { cluster: [{ host: '127.0.0.1', port: server.port }], keyPrefix };
    connection = makeRedisConnection(config, 'worker');
    subscriber = makeRedisConnection(config, 'worker');
  });
  const loseSlot = async () => {
    await ask('CLUSTER DELSLOTS 0');
    await until('the cluster to be down', async () =>
      (await ask('SET ready yes'))?.startsWith('-CLUSTERDOWN'),
    );
  };
  afterAll(async () => {
    await Promise.all([connection?.close(), subscriber?.close()]);
    await stop?.();
  });

  it('keeps all keys of a policy in one slot, so that every script runs', async () => {
    const store = makeRedisRolloutStore({ commands: connection.commands, keyPrefix });
    const before = anUpgrade({ state: 'pending' });
    expect(
      await store.freeze({ rollout: aRollout(), upgrades: [before], groups: someGroups(), events: [] }),
    ).toBe('frozen');
    const queued = anUpgrade(
      { state: 'queued', dueAt: startedAt, freshAt: startedAt, startBy: null },
      { rev: 2 },
    );
    const admission = { rolloutId: before.identity.rolloutId, rolloutRev: 1, slots: 1, domains: [] };
    expect(await store.admit({ ...admission, changes: [{ before, after: queued, events: [] }] }, 1)).toEqual([
      1,
    ]);
    const starting = anUpgrade(
      { state: 'starting', sentAt: startedAt, dueAt: startedAt, startBy: null },
      { rev: 3 },
    );
    expect(await store.saveIntent({ before: queued, after: starting, events: [] }, 1)).toBe('saved');
    const view = await store.loadView(before.identity.rolloutId, { now: 0, overdueBefore: 0, pageSize: 5 });
    expect(view?.slotsTaken).toBe(1);
    const joined = { rollout: aRollout({ rev: 2 }), upgrades: [before], groups: someGroups(), events: [] };
    expect(await store.join(joined, 1, 1)).toBe('saved');
    expect(await store.replan({ ...joined, rollout: aRollout({ rev: 3 }) }, 2)).toBe('stale');
    expect(await store.activeRolloutIds(['production', 'other'])).toEqual([before.identity.rolloutId]);
    const ended = aRollout({ state: 'aborted', endedAt: startedAt, rev: 3 });
    expect(await store.saveRollout({ rollout: ended, expectedRev: 2, events: [], brake: 'set' }, 1)).toBe(
      'saved',
    );
    expect(await store.listRollouts(['production', 'other'])).toHaveLength(1);
  });

  it('gives what belongs to no rollout its slot', async () => {
    const register = makeRedisFleetRegister({ commands: connection.commands, keyPrefix });
    const word = { by: 'ann', reason: 'leaks', at: startedAt };
    expect(await register.holdBuild({ build: '19.536-4', ...word })).toBe('held');
    await register.audit({ event: 'build.held', subject: '19.536-4', ...word });
    expect(await register.readAudit(5)).toHaveLength(1);
    expect(await register.firstSeen(['19.536-4'], startedAt)).toEqual(new Map([['19.536-4', startedAt]]));
    expect(await register.releaseBuild('19.536-4')).toBe('released');
  });

  it('gives the lease, the budget and the wakeUps their slots too', async () => {
    const { commands } = connection;
    const lease = makeRedisLeaderLease({ commands, keyPrefix });
    expect(await lease.hold()).toBeGreaterThan(0);
    await lease.release();
    const budget = makeRedisApiBudget({ commands, keyPrefix, accessId: 'id', requestsPerSecond: 400 });
    (await budget.take('look')).giveBack();
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
        ringing.ring();
        return rings;
      })
      .toBeGreaterThan(0);
  });

  it('waits with a command until the cluster is whole again, and tells so (P11)', async ({
    onTestFinished,
  }) => {
    const told: string[] = [];
    const config = { cluster: [{ host: '127.0.0.1', port }], keyPrefix };
    const waiting = makeRedisConnection(config, 'worker', {
      onTransient: ({ message }) => told.push(message),
    });
    onTestFinished(() => waiting.close());
    await waiting.commands.ping();
    await loseSlot();
    let answer = 'none yet';
    const asked = waiting.commands.set('kept', 'yes').then((ok) => {
      answer = ok;
    });
    // The library's own retryBounds is 16 refusals.
    await until('many refusals', () => told.length > 20);
    expect(answer).toBe('none yet');
    expect(told.every((words) => words.startsWith('CLUSTERDOWN'))).toBe(true);
    await ask('CLUSTER ADDSLOTS 0');
    await asked;
    expect(answer).toBe('OK');
  });

  // BullMQ waits for this with no limit: a worker that is never told takes no job any more.
  it('tells how an attempt to connect ended while the cluster was not whole (P11)', async ({
    onTestFinished,
  }) => {
    invariant(connection.client instanceof Cluster, 'a cluster was configured');
    // As BullMQ makes its own of ours.
    const blocking = connection.client.duplicate();
    onTestFinished(() => blocking.disconnect());
    await once(blocking, 'ready');
    blocking.disconnect();
    await once(blocking, 'end');
    await loseSlot();
    let attempt = 'no word';
    void blocking.connect().then(
      () => {
        attempt = 'connected';
      },
      () => {
        attempt = 'refused';
      },
    );
    await once(blocking, 'reconnecting');
    const ready = once(blocking, 'ready');
    await ask('CLUSTER ADDSLOTS 0');
    await ready;
    expect(attempt).toBe('refused');
    expect(await blocking.get('nothing')).toBeNull();
  });
});

describe.skipIf(redisServerCommand === undefined)('a connection to a Redis Cluster of two', () => {
  it('ends with what waits for the cluster when it is closed, though its nodes end together', async () => {
    const args = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'];
    const nodes = [await makeRedisProcess({ args }), await makeRedisProcess({ args })] as const;
    onTestFinished(async () => {
      await Promise.all(nodes.map((node) => node.close()));
    });
    await Promise.all(nodes.map((node) => node.start()));
    const [lower, upper] = nodes;
    await lower.ask('CLUSTER ADDSLOTSRANGE 0 8191');
    await upper.ask('CLUSTER ADDSLOTSRANGE 8192 16383');
    await upper.ask(`CLUSTER MEET 127.0.0.1 ${lower.port}`);
    // Slot 3300, and slot 15495.
    const both = [
      ['b', lower],
      ['a', upper],
    ] as const;
    await until('the cluster to be whole', async () => {
      const answers = await Promise.all(both.map(([key, node]) => node.ask(`SET ${key} yes`)));
      return answers.every((answer) => answer === '+OK');
    });
    const told: string[] = [];
    const { client, commands, close } = makeRedisConnection(
      { cluster: [{ host: '127.0.0.1', port: lower.port }], keyPrefix },
      'worker',
      { onTransient: ({ message }) => told.push(message) },
    );
    await Promise.all(both.map(([key]) => commands.get(key)));
    await lower.ask('CLUSTER DELSLOTS 0');
    const waiting = commands.set('b', 'no').catch((error: unknown) => error);
    await until('it to wait', () => told.length > 2);
    await close();
    expect(await waiting).toBeInstanceOf(Error);
    expect(client.status).toBe('end');
    await expect(commands.get('a')).rejects.toThrow();
  });
});
