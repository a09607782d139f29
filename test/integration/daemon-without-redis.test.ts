import { describe, expect, it, onTestFinished } from 'vitest';
import { aStartedNight, type NightDaemon } from '../support/daemon-night.ts';
import { makeRedisProcess, redisServerCommand } from '../support/redis-process.ts';
import { until } from '../support/until.ts';

async function series(daemon: NightDaemon, name: string): Promise<string | undefined> {
  const { text } = await daemon.get('/metrics');
  return text.split('\n').find((line) => line.startsWith(`${name} `));
}

describe.skipIf(redisServerCommand === undefined)('a leading daemon whose Redis is away', () => {
  it('leads no more, and says so while it is away and once; it leads again when Redis is back (P11)', async () => {
    const redis = await makeRedisProcess();
    await redis.start();
    onTestFinished(() => redis.close());
    const config = { url: redis.url, keyPrefix: 'away' };
    const { daemon, end } = await aStartedNight({ redis: config }, onTestFinished);
    await until('it to lead', () => daemon.told('leader.acquired').length === 1);
    expect(await series(daemon, 'upwave_leader')).toBe('upwave_leader 1');
    expect(await series(daemon, 'upwave_redis_up')).toBe('upwave_redis_up 1');

    await redis.kill();
    await until('it to know', async () => (await series(daemon, 'upwave_redis_up')) === 'upwave_redis_up 0');
    await until(
      'it to lead no more',
      async () => (await series(daemon, 'upwave_leader')) === 'upwave_leader 0',
    );
    expect(daemon.told('leader.lost')).toHaveLength(1);

    await redis.start();
    await until('it to lead again', () => daemon.told('leader.acquired').length === 2);
    expect(await series(daemon, 'upwave_redis_up')).toBe('upwave_redis_up 1');
    expect((await end()).broken).toEqual([]);
    expect(daemon.told('leader.lost')).toHaveLength(1);
    expect(daemon.told('redis.emptied')).toHaveLength(0);
  });
});
