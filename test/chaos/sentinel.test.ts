import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { makeRedisProcess, type RedisProcess } from '../support/redis/redis-process.ts';
import { until } from '../support/until.ts';
import { aChaosNight, isShort, report } from './chaos-night.ts';
import { quietAfter, straysMs, timesText } from './quiet-after.ts';

const group = 'upwave';
const quorum = 2;
const downAfterMs = 1_000;

describe.skipIf(isShort)('Redis with three sentinels', () => {
  let master: RedisProcess;
  let replica: RedisProcess;
  let sentinels: readonly RedisProcess[] = [];

  beforeAll(async () => {
    master = await makeRedisProcess();
    await master.start();
    replica = await makeRedisProcess({ args: ['--replicaof', '127.0.0.1', String(master.port)] });
    await replica.start();
    const sentinel = [
      `sentinel monitor ${group} 127.0.0.1 ${master.port} ${quorum}`,
      `sentinel down-after-milliseconds ${group} ${downAfterMs}`,
      `sentinel failover-timeout ${group} 10000`,
      '',
    ].join('\n');
    sentinels = await Promise.all([1, 2, 3].map(() => makeRedisProcess({ sentinel })));
    await Promise.all(sentinels.map((each) => each.start()));
    await until('the sentinels to know each other and the replica', async () => {
      const answers = await Promise.all(sentinels.map((each) => each.ask(`SENTINEL CKQUORUM ${group}`)));
      const replicas = await Promise.all(sentinels.map((each) => each.ask(`SENTINEL REPLICAS ${group}`)));
      const all = answers.every((answer) => answer?.startsWith('+OK 3 usable') === true);
      return all && replicas.every((answer) => answer === '*1');
    });
  });
  afterAll(async () => {
    await Promise.all([master, replica, ...sentinels].map((each) => each?.close()));
  });

  it('loses its master: the replica takes over, the rollout continues, and nothing is done twice (P1, P11)', async ({
    expect,
    onTestFinished,
  }) => {
    const redis = {
      sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })),
      name: group,
      keyPrefix: 'sentinel',
    };
    const night = await aChaosNight(
      { redis, scenario: { fleet: { size: 130 } }, daemons: 2, creates: 30 },
      onTestFinished,
    );
    await master.kill();
    const { createMs } = await quietAfter(night, { ignoreMs: straysMs });
    await until('the sentinels to agree', async () => {
      const ports = await Promise.all(sentinels.map(masterPortBy));
      return ports.every((port) => port === replica.port);
    });
    // What was the master follows now. Were it back sooner, the fail-over might be called off, and all that the replica
    // had been reported since would be lost.
    await master.start();
    const { broken } = await night.end();
    report(`Sentinel fail-over (down after ${downAfterMs} ms): next create after ${timesText([createMs])}`);
    expect(broken).toEqual([]);
    expect(createMs).not.toBeNull();
  });
});

/** The port of the master that this sentinel names. */
async function masterPortBy({ port }: RedisProcess): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  try {
    socket.write(`SENTINEL GET-MASTER-ADDR-BY-NAME ${group}\r\n`);
    const [answer] = await once(socket, 'data');
    // `*2`, `$9`, `127.0.0.1`, `$5`, `40589`: a line each.
    return Number(String(answer).trimEnd().split('\r\n').at(-1));
  } finally {
    socket.destroy();
  }
}
