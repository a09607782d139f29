import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { RedisProcess } from '../support/redis/redis-process.ts';
import { type RedisSentinels, startRedisSentinels } from '../support/redis/redis-sentinels.ts';
import { until } from '../support/until.ts';
import { aChaosNight, isShort, report } from './chaos-night.ts';
import { quietAfter, straysMs, timesText } from './quiet-after.ts';

describe.skipIf(isShort)('Redis with three sentinels', () => {
  let redis: RedisSentinels;

  beforeAll(async () => {
    redis = await startRedisSentinels();
  });
  afterAll(() => redis.close());

  it('loses its primary: the replica takes over, the rollout continues, and nothing is done twice (P1, P11)', async ({
    expect,
    onTestFinished,
  }) => {
    const { primary, replica, sentinels, name, downAfterMs } = redis;
    const places = sentinels.map(({ port }) => ({ host: '127.0.0.1', port }));
    const night = await aChaosNight(
      {
        redis: { sentinels: places, name, keyPrefix: 'sentinel' },
        scenario: { fleet: { size: 130 } },
        daemons: 2,
        creates: 30,
      },
      onTestFinished,
    );
    await primary.kill();
    const { createMs } = await quietAfter(night, { ignoreMs: straysMs });
    await until('the sentinels to agree', async () => {
      const ports = await Promise.all(sentinels.map((each) => primaryPortBy(each, name)));
      return ports.every((port) => port === replica.port);
    });
    // What was the primary follows now. Were it back sooner, the fail-over might be called off, and all that the replica
    // had been reported since would be lost.
    await primary.start();
    const { broken } = await night.end();
    report(`Sentinel fail-over (down after ${downAfterMs} ms): next create after ${timesText([createMs])}`);
    expect(broken).toEqual([]);
    expect(createMs).not.toBeNull();
  });
});

/** The port of the primary that this sentinel names. */
async function primaryPortBy({ port }: RedisProcess, name: string): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  try {
    socket.write(`SENTINEL GET-MASTER-ADDR-BY-NAME ${name}\r\n`);
    const [answer] = await once(socket, 'data');
    // `*2`, `$9`, `127.0.0.1`, `$5`, `40589`: a line each.
    return Number(String(answer).trimEnd().split('\r\n').at(-1));
  } finally {
    socket.destroy();
  }
}
