import { describe, it } from 'vitest';
import { openTcpProxy } from '../support/network/tcp-proxy.ts';
import { type AtEnd, nightSpeed } from '../support/night/daemon-night.ts';
import { until } from '../support/until.ts';
import { aChaosNight, isShort, report, useRedisProcess } from './chaos-night.ts';
import { quietAfter, straysMs, timesText } from './quiet-after.ts';

// The other daemon needs the lease to run out, and a busy machine half of that on top.
const quietMaxMs = 7_500;

// A connection that does not answer is given up after 12 s; a few of them may depend on each other.
const silentMaxMs = 25_000;

describe.skipIf(isShort)('a network that is cut between daemons and Redis', () => {
  const redis = useRedisProcess();

  /** All of its daemons go through one gate to Redis. */
  const aGatedNight = async (
    { keyPrefix, size, ...input }: { keyPrefix: string; size: number; daemons: number; creates: number },
    atEnd: AtEnd,
  ) => {
    const proxy = await openTcpProxy(redis.process().port);
    atEnd(() => proxy.close());
    const way = { url: `redis://127.0.0.1:${proxy.port}`, keyPrefix };
    return {
      gate: proxy,
      night: await aChaosNight({ redis: way, scenario: { fleet: { size } }, ...input }, atEnd),
    };
  };

  for (const how of ['refuse', 'swallow'] as const) {
    it(`for the leader alone (${how}): the other daemon continues, and the leader comes back as a follower`, async ({
      expect,
      onTestFinished,
    }) => {
      const proxy = await openTcpProxy(redis.process().port);
      onTestFinished(() => proxy.close());
      const keyPrefix = `one-${how}`;
      const night = await aChaosNight(
        { redis: redis.config(keyPrefix), scenario: { fleet: { size: 130 } } },
        onTestFinished,
      );
      const cut = await night.startDaemon({ url: `redis://127.0.0.1:${proxy.port}`, keyPrefix });
      await until('it to lead', () => cut.isLeading());
      const other = await night.startDaemon();
      await night.createsReach(15);
      proxy.cut(how);
      const { createMs } = await quietAfter(night);
      await until('the other one to lead', () => other.isLeading());
      const before = cut.logged('upgrade.').length;
      proxy.heal('all');
      await until('it to work again', () => cut.logged('upgrade.').length > before);
      await until('it to follow', () => !cut.isLeading());
      const { broken } = await night.end();
      report(`the leader's way to Redis cut (${how}): next create after ${timesText([createMs])}`);
      expect(broken).toEqual([]);
      expect(createMs).toBeLessThan(quietMaxMs);
    });
  }

  it.concurrent('for all of them: nothing leaves meanwhile, and the rollout continues when the network is back', async ({
    expect,
    onTestFinished,
  }) => {
    const { gate, night } = await aGatedNight(
      { keyPrefix: 'all', size: 100, daemons: 2, creates: 20 },
      onTestFinished,
    );
    const { clock } = night.service.now();
    gate.cut('swallow');
    const cutAt = clock.now();
    // Had any of them been able to, it had filled the slots again.
    await until('what runs to end', () => night.record().tasksInFlight === 0);
    await until(
      'the lease to run out',
      async () => (await redis.process().ask('EXISTS all:{leader}:lease')) === ':0',
    );
    // What had its place in the budget and its intent stored leaves in the first moment.
    const meanwhile = night.record().creates.filter(({ at }) => at > cutAt + straysMs * nightSpeed);
    const cutMs = (clock.now() - cutAt) / nightSpeed;
    gate.heal('all');
    const { createMs } = await quietAfter(night);
    const { broken } = await night.end();
    report(
      `the way to Redis cut for all, ${Math.round(cutMs)} ms: next create ${timesText([createMs])} after it was healed`,
    );
    expect(meanwhile).toEqual([]);
    expect(broken).toEqual([]);
  });

  it.concurrent('and comes back for new connections only: the daemon gives the old ones up in seconds (P11)', async ({
    expect,
    onTestFinished,
  }) => {
    const { gate, night } = await aGatedNight(
      { keyPrefix: 'forgotten', size: 80, daemons: 1, creates: 15 },
      onTestFinished,
    );
    gate.cut('swallow');
    gate.heal('newcomers');
    const { createMs } = await quietAfter(night, { giveUpAfterMs: 60_000, ignoreMs: straysMs });
    report(`connections to Redis that went silent for ever: next create after ${timesText([createMs])}`);
    expect(createMs).toBeLessThan(silentMaxMs);
    expect(night.daemons()[0]?.logged('redis.unreachable').length).toBeGreaterThan(0);
    const { broken } = await night.end();
    expect(broken).toEqual([]);
  });
});
