import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createsOf } from '../support/daemon-night.ts';
import { makeRedisProcess, type RedisProcess, redisServerCommand } from '../support/redis-process.ts';
import { openTcpGate } from '../support/tcp-gate.ts';
import { until } from '../support/until.ts';
import { aChaosNight, isShort, report } from './chaos-night.ts';
import { quietAfter, timesText } from './quiet-after.ts';

const cutMs = 6_000;

// The other daemon needs the lease to run out, and a busy machine half of that on top.
const quietMaxMs = 7_500;

// A connection that does not answer is given up after 12 s; a few of them may depend on each other.
const silentMaxMs = 25_000;

describe.skipIf(redisServerCommand === undefined || isShort)(
  'a network that is cut between daemons and Redis',
  () => {
    let redis: RedisProcess;

    beforeAll(async () => {
      redis = await makeRedisProcess();
      await redis.start();
    });
    afterAll(async () => {
      await redis?.close();
    });

    for (const how of ['refuse', 'swallow'] as const) {
      it(`for the leader alone (${how}): the other one goes on, and it comes back as a follower`, async ({
        expect,
        onTestFinished,
      }) => {
        const gate = await openTcpGate(redis.port);
        onTestFinished(() => gate.close());
        const keyPrefix = `one-${how}`;
        const night = await aChaosNight(
          { redis: { url: redis.url, keyPrefix }, scenario: { fleet: { size: 130 } } },
          onTestFinished,
        );
        const cut = await night.startDaemon({ url: `redis://127.0.0.1:${gate.port}`, keyPrefix });
        await until('it to lead', () => cut.isLeading());
        await night.startDaemon();
        await night.createsReach(15);
        gate.cut(how);
        const { createMs } = await quietAfter(night);
        await wait(cutMs);
        const before = cut.logged('upgrade.').length;
        gate.heal('all');
        await until('it to work again', () => cut.logged('upgrade.').length > before);
        const { broken } = await night.end();
        report(`the leader's way to Redis cut (${how}): next create after ${timesText([createMs])}`);
        expect(broken).toEqual([]);
        expect([...createsOf(night.record()).values()].every((count) => count === 1)).toBe(true);
        expect(createMs).toBeLessThan(quietMaxMs);
      });
    }

    it.concurrent('for all of them: nothing leaves meanwhile, and the rollout goes on when it is healed', async ({
      expect,
      onTestFinished,
    }) => {
      const gate = await openTcpGate(redis.port);
      onTestFinished(() => gate.close());
      const way = { url: `redis://127.0.0.1:${gate.port}`, keyPrefix: 'all' };
      const night = await aChaosNight({ redis: way, scenario: { fleet: { size: 100 } } }, onTestFinished);
      await Promise.all([night.startDaemon(), night.startDaemon()]);
      await night.createsReach(20);
      gate.cut('swallow');
      // What had its place in the budget and its intent stored leaves in this moment.
      await wait(1_000);
      const before = night.record().creates.length;
      await wait(cutMs);
      const meanwhile = night.record().creates.length - before;
      gate.heal('all');
      const { createMs } = await quietAfter(night);
      const { broken } = await night.end();
      report(`the way to Redis cut for all, 7 s: next create ${timesText([createMs])} after it was healed`);
      expect(meanwhile).toBe(0);
      expect(broken).toEqual([]);
      expect([...createsOf(night.record()).values()].every((count) => count === 1)).toBe(true);
    });

    it.concurrent('and is healed for new connections alone: the old ones are given up in seconds (P11)', async ({
      expect,
      onTestFinished,
    }) => {
      const gate = await openTcpGate(redis.port);
      onTestFinished(() => gate.close());
      const way = { url: `redis://127.0.0.1:${gate.port}`, keyPrefix: 'forgotten' };
      const night = await aChaosNight({ redis: way, scenario: { fleet: { size: 80 } } }, onTestFinished);
      const daemon = await night.startDaemon();
      await night.createsReach(15);
      gate.cut('swallow');
      await wait(1_000);
      gate.heal('newcomers');
      const { createMs } = await quietAfter(night, 60_000);
      report(`connections to Redis that went silent for ever: next create after ${timesText([createMs])}`);
      expect(createMs).toBeLessThan(silentMaxMs);
      expect(daemon.logged('redis.unreachable').length).toBeGreaterThan(0);
      const { broken } = await night.end();
      expect(broken).toEqual([]);
      expect([...createsOf(night.record()).values()].every((count) => count === 1)).toBe(true);
    });
  },
);
