import { describe, expect, it } from 'vitest';
import {
  createsReach,
  type NightDaemon,
  nightPolicy,
  scan,
  statusOf,
  untilEnded,
  untilWave,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { useNights } from '../../support/night/nights.ts';
import { until } from '../../support/until.ts';

const { aNight, aStartedNight } = useNights();

describe.concurrent('daemons with several configs', () => {
  it('leave a rollout of another account alone, and report it in status, /readyz and log (P5)', async (test) => {
    const otherKey = { accessId: 'other-account-id', accessKey: 'other-account-key' };
    const accounts = { other: { fleet: 20 } };
    const { night, daemon, rolloutId } = await aStartedNight(test, {
      scenario: { fleet: { size: 12 }, accounts, keys: [{ ...otherKey, account: 'other' }] },
      rollout: { waves: [{ name: 'canary', size: 2, soak: '7d' }, { name: 'rest' }] },
    });
    await createsReach(night, 2);
    await daemon.close();
    const other = await night.startDaemon({ service: otherKey });
    await until('it to say so', () => other.reported('rollout.foreign').length > 0);
    expect(await other.daemon.scanNow(nightPolicy, 'schedule')).toMatchObject({ kind: 'busy', rolloutId });
    expect(await statusOf(other, rolloutId)).toMatchObject({ account: 'another', endedAt: null });
    const ready = await other.get('/readyz');
    expect([ready.status, ready.text]).toEqual([200, expect.stringContaining(`${rolloutId} is left alone`)]);
    expect(night.record().creates).toHaveLength(2);
  });

  it('leave a rollout alone at a copy of its account with another key, and say what to do (P5)', async (test) => {
    const copyKey = { accessId: 'access-id-of-copy', accessKey: 'access-key-of-copy' };
    const scenario = { fleet: { size: 12 }, keys: [copyKey] };
    const { night, daemon, rolloutId } = await aStartedNight(test, {
      scenario,
      rollout: { waves: [{ name: 'canary', size: 2, soak: '7d' }, { name: 'rest' }] },
    });
    await createsReach(night, 2);
    await daemon.close();
    // The same fleet at another address.
    const copy = await aNight(test, { redis: night.redis, scenario });
    const there = await copy.startDaemon({ service: copyKey });
    await until('it to say so', () => there.reported('rollout.foreign').length > 0);
    expect(await statusOf(there, rolloutId)).toMatchObject({ account: 'unclear', endedAt: null });
    expect(there.reported('rollout.foreign')).toMatchObject([
      { reason: expect.stringMatching(/it began at http.* set service.baseUrl or the access key back/) },
    ]);
    expect(there.reported('rollout.tied')).toEqual([]);
    expect(copy.record().creates).toEqual([]);
  });

  it('finish a rollout together while the access key of their account changes, and record the change once', async (test) => {
    const nextKey = { accessId: 'rotated-access-id', accessKey: 'rotated-access-key' };
    const night = await aNight(test, { scenario: { fleet: { size: 12 }, keys: [nextKey] } });
    const rolloutId = await scan(await night.startDaemon());
    const next = await night.startDaemon({ service: nextKey });
    expect((await untilEnded(next, rolloutId)).state).toBe('succeeded');
    const events = (await next.operations.readEvents(rolloutId, 1_000)) ?? [];
    expect(events.filter(({ event }) => event === 'rollout.tied')).toHaveLength(1);
  });

  it('report receivers that only one of them has, in log, status and /readyz', async (test) => {
    const night = await aNight(test);
    const one = await night.startDaemon();
    const other = await night.startDaemon({
      notify: [{ slack: { url: 'http://127.0.0.1:9/a-secret-path' } }],
    });
    const words = '1 daemon has another config of notify';
    await until('the second to say so', () => other.reported('config.settingsDiffer').length > 0);
    expect((await other.operations.listPolicies()).configDifference).toContain(words);
    expect((await other.get('/readyz')).text).toContain(words);
    await until('the first to say so', () => one.reported('config.settingsDiffer').length > 0);
    await other.daemon.close();
    await until('the first to agree again', () => one.reported('config.settingsAgree').length > 0);
  });

  it('leave scans to the newest config: the older one adds no collector that the newest excludes, and reports it (P5)', async (test) => {
    const waves = [
      { name: 'canary', size: 4, soak: '0s' },
      { name: 'rest', approval: true },
    ];
    const night = await aNight(test, {
      // A daemon that scans only when it is asked would make no other one outdated.
      followsSchedule: true,
      rollout: { waves, select: { exclude: [{ osName: 'Linux*' }] } },
    });
    const old = await night.startDaemon({ rollout: { select: { exclude: [] } } });
    const rolloutId = await until('its first scan', async () => (await old.operations.listRollouts())[0]?.id);
    await untilWave(old, rolloutId, { index: 1, state: 'awaitingApproval' });
    const idsOf = async (daemon: NightDaemon) =>
      (await upgradesOf(daemon, rolloutId)).map(({ identity }) => identity.collectorId);
    const before = await idsOf(old);
    const next = await night.startDaemon();
    // From then on both know: who comes says so before it does anything else.
    await until('the newest to say so', () => next.reported('config.differs').length > 0);
    for (let made = 0; made < 12; made += 1) night.service.world.appear();
    expect(await old.daemon.scanNow(nightPolicy, 'schedule')).toMatchObject({ kind: 'outdated' });
    expect(await idsOf(old)).toEqual(before);
    expect(await next.daemon.scanNow(nightPolicy, 'schedule')).toEqual({ kind: 'busy', rolloutId });
    const late = (await idsOf(next)).filter((id) => !before.includes(id));
    const lateOn = late.map((id) => night.service.world.collector(id)?.facts.osName);
    expect(lateOn.filter((osName) => osName?.startsWith('Linux'))).toEqual([]);
    // Both say so: in the log, to who asks whether they are ready, in the metrics, and in their standings.
    const isOutdated = async (daemon: NightDaemon) =>
      /^upwave_config_outdated\{policy="night"\} (.)$/m.exec((await daemon.get('/metrics')).text)?.[1];
    const reason = expect.stringContaining('1 daemon has a newer config');
    expect(old.reported('config.outdated')).toMatchObject([{ level: 'warn', policy: nightPolicy, reason }]);
    expect((await old.get('/readyz')).text).toContain('a newer config of night');
    expect([await isOutdated(old), await isOutdated(next)]).toEqual(['1', '0']);
  });
});
