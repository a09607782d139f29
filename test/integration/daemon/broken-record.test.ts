import { describe, expect, it, onTestFinished } from 'vitest';
import { rolloutKeys } from '../../../src/redis/schema/rollout-keys.ts';
import {
  aStartedNight,
  createsReach,
  nightConfig,
  nightPolicy,
  untilEnded,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { brokenPromises, createsOf } from '../../support/night/judge-night.ts';
import { callUpwave } from '../../support/night/upwave-call.ts';
import { aFolder } from '../../support/night/upwave-process.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();

describe('a rollout with a record that cannot be read, of a collector that is just upgraded', () => {
  it('holds its slot until `repair`, and is then seen to its end, also when its rollout is aborted (P1, P2, P9)', async () => {
    const config = redis.config();
    const { commands } = redis.connect();
    const rollout = { waves: [{ name: 'all', maxFailures: '20%' }] };
    // Each runs for two seconds of ours, so that one which is seen to run still does when its record is broken.
    const scenario = { durations: { median: '10m', p95: '11m', min: '10m', max: '12m' } };
    const input = { redis: config, rollout, scenario };
    const { night, daemon, rolloutId } = await aStartedNight(input, onTestFinished);
    const { records } = rolloutKeys(config.keyPrefix, rolloutId);
    const [running] = await until('one that runs', async () => {
      const all = await upgradesOf(daemon, rolloutId);
      const found = all.filter(({ progress: { state } }) => state === 'upgrading');
      return found.length > 0 && found;
    });
    const collectorId = running?.identity.collectorId ?? 0;
    await commands.hset(records, String(collectorId), '{"state":');
    const isReported = () => daemon.log.some(({ event }) => event === 'record.broken');
    await until('it to be told', isReported);
    const explained = await daemon.operations.explain(String(collectorId));
    expect(explained).toMatchObject({
      kind: 'explained',
      explanations: [{ rollout: rolloutId, reason: expect.stringContaining('is unreadable') }],
    });

    // It keeps its slot, and holds its collector, until a person settles it.
    const shown = await daemon.operations.rolloutStatus(rolloutId);
    expect(shown?.blockers).toContainEqual(expect.objectContaining({ kind: 'recordsUnreadable' }));
    const repaired = await callUpwave(
      ...['repair', rolloutId, String(collectorId), '--watch', '--yes', '--reason', 'it runs'],
      ...['--url', daemon.url],
    );
    expect([repaired.code, repaired.err.split('\n').at(-1)]).toEqual([0, '']);
    const abort = { rolloutId, verb: 'abort', by: 'ann', reason: 'enough' } as const;
    expect((await daemon.operations.apply(abort)).kind).toBe('done');
    const status = await untilEnded(daemon, rolloutId);
    const upgrades = await upgradesOf(daemon, rolloutId);
    expect(brokenPromises(night, status, upgrades)).toEqual([]);
    expect(upgrades.find((each) => each.identity.collectorId === collectorId)?.progress.state).toBe(
      'succeeded',
    );
    expect(createsOf(night.record()).get(collectorId)).toBe(1);
    expect(daemon.log.filter(({ event }) => event === 'record.broken').length).toBe(1);
    expect(daemon.log.filter(({ event }) => event === 'reconcile.failed')).toEqual([]);
  });
});

describe("a rollout whose own record can't be read any more, while it is on its way", () => {
  const rollout = { concurrency: 4, waves: [{ name: 'canary', size: 2, soak: '300ms' }, { name: 'rest' }] };
  const noStack = /^\s+at /m;

  async function aBrokenNight(daemons: number) {
    const config = redis.config();
    const { commands } = redis.connect();
    const started = await aStartedNight({ redis: config, rollout, daemons }, onTestFinished);
    const { night, rolloutId } = started;
    const { url, keyPrefix } = config;
    const folder = aFolder(onTestFinished);
    const file = folder.write('upwave.yaml', {
      ...nightConfig(night.service.baseUrl, { rollout }),
      redis: { url, keyPrefix },
    });
    const upwave = async (...args: string[]) => {
      const { code, out, err } = await callUpwave(...args, '--config', file);
      expect(`${out}${err}`).not.toMatch(noStack);
      return { code, out, err };
    };
    await createsReach(night, 5);
    const { rollout: key } = rolloutKeys(keyPrefix, rolloutId);
    const good = (await commands.hget(key, 'json')) ?? '';
    const breakIt = () => commands.hset(key, 'json', good.slice(0, -40));
    await breakIt();
    return {
      ...started,
      commands,
      key,
      good,
      breakIt,
      upwave,
      inFolder: (name: string) => `${folder.path}/${name}`,
    };
  }

  it('starts nothing, is told by all that tells, and is aborted by the command (P1, P4, P9, P10)', async () => {
    const { night, daemon, rolloutId, upwave, end } = await aBrokenNight(2);
    const isReported = () => daemon.log.some(({ event }) => event === 'record.broken');
    await until('it to be told', isReported);
    const isAtRest = async () => (await daemon.operations.rolloutStatus(rolloutId))?.inFlight === 0;
    await until('those that run to end, and no other to begin', isAtRest);
    const creates = [...createsOf(night.record()).values()].length;
    for (const path of [
      '',
      `/${rolloutId}`,
      `/${rolloutId}/collectors`,
      `/${rolloutId}/events`,
      `/${rolloutId}/verbs`,
    ])
      expect([path, (await daemon.get(`/api/v1/rollouts${path}`)).status]).toEqual([path, 200]);
    for (const path of ['/', '/metrics', '/readyz', '/api/v1/policies', '/api/v1/holds'])
      expect([path, (await daemon.get(path)).status]).toEqual([path, 200]);
    expect((await daemon.get('/metrics')).text).toMatch(/upwave_waits_for_person\{policy="night"\} 1/);
    const url = ['--url', daemon.url];
    const status = await upwave('status', rolloutId, ...url);
    expect([status.code, status.err]).toEqual([3, '']);
    expect(status.out).toContain('its record in Redis is unreadable');
    expect(status.out).toMatch(/^do +upwave abort \S+$/m);
    expect((await upwave('events', rolloutId, ...url)).code).toBe(0);
    expect((await upwave('pause', rolloutId, ...url)).err).toContain('is unreadable');
    const exported = (await upwave('export', rolloutId)).out.split('\n');
    expect(exported[0]).toContain('"kind":"unreadable"');
    expect(exported.filter((line) => line.startsWith('{"kind":"upgrade"')).length).toBeGreaterThan(20);
    expect((await daemon.daemon.scanNow(nightPolicy, 'operator')).kind).toBe('busy');

    const aborted = await upwave('abort', rolloutId, '--reason', 'its record is broken', ...url);
    expect([aborted.code, aborted.err]).toEqual([0, '']);
    const { status: ended, broken, upgrades } = await end();
    expect(broken).toEqual([]);
    expect(ended).toMatchObject({ state: 'aborted', recordUnreadable: null, inFlight: 0 });
    expect([...createsOf(night.record()).values()].length).toBe(creates);
    expect(upgrades.filter(({ progress: { state } }) => state === 'succeeded').length).toBe(creates);
    for (const event of ['reconcile.failed', 'step.failed', 'scan.failed', 'backgroundTask.failed'])
      expect(daemon.told(event)).toEqual([]);
    expect(daemon.told('record.broken').length).toBe(1);
    // The next one is begun by an operator, as after any abort.
    expect((await daemon.daemon.scanNow(nightPolicy, 'schedule')).kind).toBe('nothing');
    expect((await daemon.daemon.scanNow(nightPolicy, 'operator')).kind).toBe('started');
  });
});
