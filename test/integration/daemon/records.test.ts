import { describe, expect, it } from 'vitest';
import { rolloutKeys } from '../../../src/redis/schema/rollout-keys.ts';
import { recordVersion } from '../../../src/redis/schema/unreadable-records.ts';
import { lossless } from '../../support/lossless.ts';
import {
  createsReach,
  endOf,
  type NightDaemon,
  nightConfig,
  nightPolicy,
  statusOf,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { createdTwice, createsOf } from '../../support/night/judge-night.ts';
import { useNights } from '../../support/night/nights.ts';
import { aDesk } from '../../support/night/upwave-desk.ts';
import { emptyRedis } from '../../support/redis/empty-redis.ts';
import { until } from '../../support/until.ts';

const { redis, aStartedNight } = useNights();

describe.concurrent('daemons whose Redis is emptied', () => {
  it('say so, hold again what was held, and begin nothing that somebody had stopped (P4, P5, P11)', async (test) => {
    const { night, daemon, rolloutId } = await aStartedNight(test, { scenario: { fleet: { size: 20 } } });
    const other = await night.startDaemon();
    await createsReach(night, 2);
    const { operations } = daemon;
    await operations.apply({ rolloutId, verb: 'pause', by: 'ann', reason: 'wait' });
    const pending = await operations.listUpgrades(rolloutId, { offset: 0, limit: 1, state: 'pending' });
    const { collectorId } = lossless(pending?.[0]).identity;
    await operations.hold({ subject: String(collectorId), by: 'ann', reason: 'never touch' });
    const created = createsOf(night.record()).size;
    // A scan checks Redis first, as each daemon does once a second.
    for (const each of [daemon, other]) await each.daemon.scanNow(nightPolicy, 'schedule');

    await emptyRedis(redis.connect().commands, night.redis.keyPrefix);
    for (const origin of ['schedule', 'start'] as const)
      expect(await other.daemon.scanNow(nightPolicy, origin)).toMatchObject({
        kind: 'nothing',
        why: { kind: 'lost', lost: { id: rolloutId, state: 'paused' } },
      });
    const held = [{ collectorId, by: 'ann', reason: 'never touch' }];
    expect((await operations.listHolds()).collectors).toMatchObject(held);
    for (const each of [daemon, other]) {
      await until('it to say so', () => each.told('redis.emptied').length > 0);
      const reason = expect.stringContaining(`${rolloutId} (paused)`);
      expect(each.told('redis.emptied')).toMatchObject([{ level: 'error', reason }]);
    }
    const reason = expect.stringContaining(`held again: collector ${collectorId}`);
    expect(await operations.readAudit(9)).toMatchObject([{ event: 'record.lost', reason }]);
    expect((await daemon.get('/api/v1/audit')).text).toContain('"record.lost"');
    expect((await daemon.get('/metrics')).text).toContain('upwave_redis_emptied_total 1');
    expect(createsOf(night.record()).size).toBe(created);

    await until('what ran to end at the service', () => night.record().tasksInFlight === 0);
    const again = await daemon.daemon.scanNow(nightPolicy, 'operator');
    // Another day may have begun, whose first one it is then.
    expect(again).toMatchObject({ kind: 'started', rolloutId: expect.stringMatching(/^night-\d{8}-[12]$/) });
    expect(again).not.toMatchObject({ rolloutId });
  });
});

describe.concurrent('a rollout with an unreadable record', () => {
  it('of a running upgrade keeps its slot until `repair`, and is seen to its end after an abort (P1, P2, P9)', async (test) => {
    const { night, daemon, rolloutId, end } = await aStartedNight(test, {
      rollout: { waves: [{ name: 'all', maxFailures: '20%' }] },
      // Each runs for two seconds of ours, so that one which is seen to run still does when its record is broken.
      scenario: { durations: { median: '10m', p95: '11m', min: '10m', max: '12m' } },
    });
    const running = await until('one that runs', async () => {
      const all = await upgradesOf(daemon, rolloutId);
      return all.find(({ progress: { state } }) => state === 'upgrading');
    });
    const { collectorId } = running.identity;
    const { records } = rolloutKeys(night.redis.keyPrefix, rolloutId);
    await redis.connect().commands.hset(records, String(collectorId), '{"state":');
    await until('it to be reported', () => daemon.told('record.broken').length > 0);
    const explanations = [{ rollout: rolloutId, reason: expect.stringContaining('is unreadable') }];
    expect(await daemon.operations.explain(String(collectorId))).toMatchObject({ explanations });
    // It keeps its slot, and holds its collector, until a person settles it.
    const shown = await statusOf(daemon, rolloutId);
    expect(shown.blockers).toContainEqual(expect.objectContaining({ kind: 'recordsUnreadable' }));
    const desk = aDesk(test, {});
    const repair = [rolloutId, String(collectorId), '--watch', '--yes', '--reason', 'it runs'];
    const settled = await desk.call('repair', ...repair, '--url', daemon.url);
    expect(settled.err).toContain(`${rolloutId} has 1 corrupt record:\n  ${collectorId}  `);
    expect(settled.err).toContain('may be running\n');
    expect(settled.code).toBe(0);
    const abort = { rolloutId, verb: 'abort', by: 'ann', reason: 'enough' } as const;
    expect((await daemon.operations.apply(abort)).kind).toBe('done');
    const { upgrades, broken } = await end();
    expect(broken).toEqual([]);
    const repaired = upgrades.find(({ identity }) => identity.collectorId === collectorId);
    expect(repaired?.progress.state).toBe('succeeded');
    expect(createsOf(night.record()).get(collectorId)).toBe(1);
    expect(daemon.told('record.broken').length).toBe(1);
    expect(daemon.told('reconcile.failed')).toEqual([]);
  });

  it('of its own starts nothing, is shown as that everywhere, and is aborted by the command (P1, P4, P9, P10)', async (test) => {
    const rollout = { concurrency: 4, waves: [{ name: 'canary', size: 2, soak: '300ms' }, { name: 'rest' }] };
    const { night, daemon, rolloutId, end } = await aStartedNight(test, { rollout });
    const desk = aDesk(test, { ...nightConfig(night.baseUrl, { rollout }), redis: night.redis });
    const upwave = async (...args: string[]) => {
      const result = await desk.call(...args);
      expect(result.all).not.toMatch(/^\s+at /m);
      return result;
    };
    await createsReach(night, 5);
    const { commands } = redis.connect();
    const { rollout: key } = rolloutKeys(night.redis.keyPrefix, rolloutId);
    await commands.hset(key, 'json', ((await commands.hget(key, 'json')) ?? '').slice(0, -40));
    await until('it to be reported', () => daemon.told('record.broken').length > 0);
    await until('those that run to end', async () => (await statusOf(daemon, rolloutId)).inFlight === 0);
    const creates = createsOf(night.record()).size;
    const waits = 'upwave_waits_for_person{policy="night"} 1';
    await until('the metric', async () => (await daemon.get('/metrics')).text.includes(waits));
    const url = ['--url', daemon.url];
    const status = await upwave('status', rolloutId, ...url);
    expect([status.code, status.err]).toEqual([3, '']);
    expect(status.out).toContain('its record in Redis is unreadable');
    expect(status.out).toMatch(/^do +upwave abort \S+$/m);
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
    expect(createsOf(night.record()).size).toBe(creates);
    expect(upgrades.filter(({ progress: { state } }) => state === 'succeeded').length).toBe(creates);
    for (const event of ['reconcile.failed', 'step.failed', 'scan.failed', 'backgroundTask.failed'])
      expect(daemon.told(event)).toEqual([]);
    expect(daemon.told('record.broken').length).toBe(1);
    // The next one is begun by an operator, as after any abort.
    expect((await daemon.daemon.scanNow(nightPolicy, 'schedule')).kind).toBe('nothing');
    expect((await daemon.daemon.scanNow(nightPolicy, 'operator')).kind).toBe('started');
  });
});

describe.concurrent('two versions of upwave', () => {
  const newer = { recordVersion: recordVersion + 1 };
  const rollout = { concurrency: 6, waves: [{ name: 'canary', size: 4, soak: '300ms' }, { name: 'rest' }] };
  const input = { scenario: { fleet: { size: 15 } }, rollout };

  /** The older daemon has met the rollout, and says why it does nothing for it. */
  async function untilLeftAlone(daemon: NightDaemon, rolloutId: string): Promise<void> {
    await until('the older daemon to leave the rollout alone', async () => {
      const ready = await daemon.get('/readyz');
      expect(ready.status).toBe(200);
      return ready.text.includes('newer upwave');
    });
    const reason = expect.stringContaining(`record version ${newer.recordVersion}`);
    expect(await statusOf(daemon, rolloutId)).toMatchObject({
      headline: { kind: 'newerVersion' },
      recordUnreadable: 'newer',
      blockers: [{ kind: 'newerVersion', reason, until: null }],
    });
    expect(daemon.told('record.newer').length).toBeGreaterThan(0);
    const pause = { rolloutId, verb: 'pause', by: 'ann', reason: '' } as const;
    expect((await daemon.operations.apply(pause)).kind).toBe('refused');
  }

  it('side by side: the older one, which began the rollout and leads, gives way to the newer one (P1, P11)', async (test) => {
    const { night, daemon: older, rolloutId } = await aStartedNight(test, input);
    await createsReach(night, 2);
    const next = await night.startDaemon(newer);
    await untilLeftAlone(older, rolloutId);
    const { status, broken } = await endOf(night, next, rolloutId);
    expect([status.state, broken, createdTwice(night.record())]).toEqual(['succeeded', [], []]);
  });
});
