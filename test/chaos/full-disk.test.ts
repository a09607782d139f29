import { afterEach, describe, it, type TestContext } from 'vitest';
import { makeRedisConnection } from '../../src/redis/connection/connection.ts';
import { commandsOf } from '../support/commands-of.ts';
import { makeRedisProcess, type RedisProcess } from '../support/redis/redis-process.ts';
import { until } from '../support/until.ts';
import { aChaosNight, isShort, report } from './chaos-night.ts';
import { quietAfter, timesText } from './quiet-after.ts';
import { leaveRoom, prlimitCommand } from './redis-disk.ts';

// What two daemons write within a second or two.
const roomBytes = 50_000;

// Without a rest each daemon sends thousands.
const commandsPerSecondMax = 500;

const attempts = 4;

const isRefusal = (line: string) => line.includes('MISCONF');

describe.skipIf(isShort)('the disk of Redis', () => {
  let redis: RedisProcess | undefined;

  afterEach(async () => {
    await redis?.close();
    redis = undefined;
  });

  async function aNight({ skip, onTestFinished }: TestContext, appendfsync: 'everysec' | 'always') {
    skip(prlimitCommand === undefined, 'prlimit (util-linux) is not there to limit the files of a process');
    const args = ['--appendfsync', appendfsync, '--auto-aof-rewrite-percentage', '0'];
    const started = await makeRedisProcess({ args });
    redis = started;
    await started.start();
    const config = { url: started.url, keyPrefix: 'disk' };
    const night = await aChaosNight(
      { redis: config, scenario: { fleet: { size: 90 } }, daemons: 2, creates: 20 },
      onTestFinished,
    );
    return { night, redis: started, config };
  }

  it('is full, so Redis refuses every write: the daemons stay calm, report it, and continue when there is room (P11)', async (context) => {
    const { expect } = context;
    const { night, redis, config } = await aNight(context, 'everysec');
    await leaveRoom(redis, roomBytes);
    const reported = (event: string) => night.daemons().map((daemon) => daemon.logged(`"${event}"`));
    await until('both daemons to tell', () =>
      reported('redis.unwritable').every((lines) => lines.length > 0),
    );
    expect(await redis.ask('PING')).toContain('MISCONF');
    const refusals = () =>
      Math.min(...reported('queue.failed').map((lines) => lines.filter(isRefusal).length));
    const before = refusals();
    const { perSecond } = await commandsUntil(config, async () => {
      await until('more attempts of both', () => refusals() > before + attempts);
      await until('what runs at the service to end', () => night.record().tasksInFlight === 0);
    });
    const { length: creates } = night.record().creates;
    await leaveRoom(redis, 'unlimited');
    const { createMs } = await quietAfter(night);
    const { broken } = await night.end();
    report(
      `Redis's disk full: ${Math.round(perSecond)} commands/s, next create ${timesText([createMs])} after there was room`,
    );
    expect(broken).toEqual([]);
    expect(perSecond).toBeLessThan(commandsPerSecondMax);
    expect(night.record().creates.length).toBeGreaterThan(creates);
    expect(reported('redis.unwritable').flat()).toHaveLength(2);
    expect(reported('redis.unwritable').flat().join()).toContain('MISCONF Errors writing to the AOF file');
    await until('both daemons to tell the end', () => reported('redis.writable').flat().length === 2);
  });

  it('is full, so a Redis that syncs each write exits: it is started again with room, and nothing is lost (P11)', async (context) => {
    const { expect } = context;
    const { night, redis } = await aNight(context, 'always');
    await leaveRoom(redis, roomBytes);
    await until('Redis to end by itself', () => !redis.isRunning());
    await until('what runs at the service to end', () => night.record().tasksInFlight === 0);
    // A new process has no limit.
    await redis.start();
    const { createMs } = await quietAfter(night);
    const { broken } = await night.end();
    report(`Redis ended by its full disk: next create ${timesText([createMs])} after it was back`);
    expect(broken).toEqual([]);
    for (const daemon of night.daemons()) {
      expect(daemon.logged('"redis.unreachable"').length).toBeGreaterThan(0);
      expect(daemon.logged('"redis.unwritable"')).toEqual([]);
    }
  });
});

/** What Redis is sent meanwhile, by everybody. */
async function commandsUntil(
  redis: { readonly url: string; readonly keyPrefix: string },
  wait: () => Promise<void>,
): Promise<{ readonly perSecond: number }> {
  const connection = makeRedisConnection(redis, 'worker');
  try {
    const before = await commandsOf(connection.commands);
    const since = performance.now();
    await wait();
    const after = await commandsOf(connection.commands);
    return { perSecond: (after - before) / ((performance.now() - since) / 1_000) };
  } finally {
    await connection.close();
  }
}
