import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { aStartedNight, nightPolicy } from '../support/night/daemon-night.ts';
import { makeRedisProcess, type RedisProcess } from '../support/redis/redis-process.ts';
import { until } from '../support/until.ts';
import { aChaosNight, isShort, report } from './chaos-night.ts';
import { quietAfter, timesText } from './quiet-after.ts';

const slots = ['0 5460', '5461 10922', '10923 16383'] as const;
const nodeTimeoutMs = 2_000;

const downTimes = [
  { name: 'for a moment', downMs: 1_000, keyPrefix: 'moment' },
  // The others serve nothing either then, and refuse for seconds more: who connects meanwhile meets no whole cluster.
  { name: 'until the others give it up', downMs: 2 * nodeTimeoutMs, keyPrefix: 'given-up' },
];

// The cluster itself is complete after 2 to 4 s. Steps that waited for BullMQ's check for stalled jobs came after 9.8 s, and
// its pause after a fetch that met a closed connection was 15 s.
const backAtWorkWithinMs = 9_000;

// The connection to a cluster that lost a node looks healthy, so the work gets its seven seconds.
const goneWithinMs = 9_000;

describe.skipIf(isShort)('a Redis Cluster of three', () => {
  let nodes: readonly RedisProcess[] = [];

  beforeAll(async () => {
    const args = [
      '--cluster-enabled',
      'yes',
      '--cluster-announce-ip',
      '127.0.0.1',
      '--cluster-node-timeout',
      String(nodeTimeoutMs),
    ];
    nodes = await Promise.all(slots.map(() => makeRedisProcess({ args })));
    await Promise.all(nodes.map((node) => node.start()));
    for (const [index, range] of slots.entries()) await nodes[index]?.ask(`CLUSTER ADDSLOTSRANGE ${range}`);
    for (const { port } of nodes.slice(1)) await nodes[0]?.ask(`CLUSTER MEET 127.0.0.1 ${port}`);
    // A write is answered with OK or with the way to the right node once all slots are served.
    await until('the cluster to be whole', async () => {
      const answers = await Promise.all(nodes.map((node) => node.ask('SET whole yes')));
      return answers.every((answer) => answer === '+OK' || answer?.startsWith('-MOVED') === true);
    });
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.close()));
  });

  it.each(downTimes)(
    'carries a whole rollout, while each node is killed $name and comes back with its append-only file (P1, P11)',
    async ({ downMs, keyPrefix }) => {
      const cluster = nodes.map(({ port }) => ({ host: '127.0.0.1', port }));
      const night = await aChaosNight(
        { redis: { cluster, keyPrefix }, scenario: { fleet: { size: 120 } }, daemons: 1 },
        onTestFinished,
      );
      const quiet: Array<number | null> = [];
      for (const node of nodes) {
        await night.createsReach(night.record().creates.length + 15);
        await node.kill();
        await wait(downMs);
        await node.start();
        quiet.push((await quietAfter(night)).createMs);
        expect(quiet, 'the next create after the node was back').not.toContain(null);
      }
      const { broken } = await night.end();
      report(
        `each of three cluster nodes killed for ${downMs} ms: next create ${timesText(quiet)} after it was back`,
      );
      expect(broken).toEqual([]);
      expect(Math.max(...quiet.map(Number))).toBeLessThan(backAtWorkWithinMs);
    },
  );

  it('that lost a node does not keep a daemon from stopping, and the next one continues (P1, P11)', async () => {
    const cluster = nodes.map(({ port }) => ({ host: '127.0.0.1', port }));
    const night = await aChaosNight(
      {
        redis: { cluster, keyPrefix: 'stopped' },
        scenario: { fleet: { size: 60 } },
        daemons: 1,
        creates: 15,
      },
      onTestFinished,
    );
    const [daemon] = night.daemons();
    const [lost] = nodes;
    await lost?.kill();
    await until('it to wait', () => daemon?.logged('CLUSTERDOWN').length !== 0);
    const since = performance.now();
    expect(await daemon?.stop()).toBe(0);
    const goneMs = performance.now() - since;
    report(`a daemon whose cluster lost a node is gone ${timesText([goneMs])} after SIGTERM`);
    expect(goneMs).toBeLessThan(goneWithinMs);
    expect(daemon?.logged('daemon.stopped')).toEqual([expect.stringContaining('took too long')]);
    await lost?.start();
    await night.startDaemon();
    expect((await night.end()).broken).toEqual([]);
  });

  it('that loses the data of one node is reported, and starts nothing by itself that was paused there (P4, P11)', async () => {
    const cluster = nodes.map(({ port }) => ({ host: '127.0.0.1', port }));
    const redis = { cluster, keyPrefix: 'lost-node' };
    const { daemon, rolloutId } = await aStartedNight({ redis }, onTestFinished);
    const paused = { rolloutId, verb: 'pause', by: 'ann', reason: 'wait' } as const;
    expect((await daemon.operations.apply(paused)).kind).toBe('done');
    // A daemon knows the state of its last check, and each scan makes one.
    expect((await daemon.daemon.scanNow(nightPolicy, 'schedule')).kind).toBe('busy');
    const places = ['{night}:rollouts', '{fleet}:instance', '{leader}:lease'];
    const [ofPolicy, ...others] = await Promise.all(
      places.map((key) => ownerOf(nodes, `${redis.keyPrefix}:${key}`)),
    );
    expect(others).not.toContain(ofPolicy);
    await ofPolicy?.ask('FLUSHALL');
    const reports = await until('the loss to be reported', () =>
      daemon.log.find(({ event }) => event === 'redis.emptied'),
    );
    expect(reports.reason).toContain(`active rollouts: ${rolloutId} (paused)`);
    const result = await daemon.daemon.scanNow(nightPolicy, 'schedule');
    expect(result).toMatchObject({
      kind: 'nothing',
      why: { kind: 'lost', lost: { id: rolloutId, state: 'paused', reason: { by: 'ann' } } },
    });
  });
});

async function ownerOf(nodes: readonly RedisProcess[], key: string): Promise<RedisProcess | undefined> {
  const answers = await Promise.all(nodes.map((node) => node.ask(`EXISTS ${key}`)));
  return nodes[answers.indexOf(':1')];
}
