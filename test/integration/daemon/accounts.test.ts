import { describe, it } from 'vitest';
import { applyAsShown } from '../../support/night/as-shown.ts';
import {
  aDaemonNight,
  type Night,
  type NightDaemon,
  type NightInput,
  nightPolicy,
  scan,
  statusOf,
  untilEnded,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();

const otherKey = { accessId: 'other-account-id', accessKey: 'other-account-key' };
const nextKey = { accessId: 'rotated-access-id', accessKey: 'rotated-access-key' };

/** One service with two accounts, which have no id in common, and a second key for the first of them. */
const accounts = {
  accounts: { other: { fleet: 20 } },
  keys: [{ ...otherKey, account: 'other' }, nextKey],
};

// Long enough to be stopped half-way.
const slow = { fleet: { size: 12 }, durations: { median: '6m', p95: '8m', min: '5m', max: '9m' } };

/** Starts a rollout, and closes its daemon as soon as some of it runs. */
async function halfWay(night: Night): Promise<string> {
  const daemon = await night.startDaemon();
  const rolloutId = await scan(daemon);
  await until('some to run', async () => (await statusOf(daemon, rolloutId)).counts.upgrading > 1);
  await daemon.close();
  return rolloutId;
}

/** Waits until the daemon says that it leaves a rollout alone. */
async function untilForeign(daemon: NightDaemon): Promise<string> {
  const [line] = await until('it to say so', () => {
    const lines = daemon.told('rollout.foreign');
    return lines.length > 0 && lines;
  });
  return String(line?.reason);
}

/** What the records say, without what counts readings of them. */
async function recordsOf(daemon: NightDaemon, rolloutId: string): Promise<string> {
  return JSON.stringify(await upgradesOf(daemon, rolloutId));
}

describe.concurrent('a daemon whose config names another account (P5)', () => {
  it('leaves a rollout alone whose ids the service does not know: no create, nobody withdrawn, no end', async ({
    expect,
    onTestFinished,
  }) => {
    const input: NightInput = { redis: redis.config(), scenario: { ...slow, ...accounts } };
    const night = await aDaemonNight(input, onTestFinished);
    const rolloutId = await halfWay(night);
    const daemon = await night.startDaemon({ service: otherKey });
    const reason = await untilForeign(daemon);
    expect(reason).toContain('it belongs to another account: of 8 of its collectors the service shows 0');
    const before = await recordsOf(daemon, rolloutId);
    const creates = night.record().creates.length;
    // It leads, looks for work, and would have delivered every step that is due.
    expect(await daemon.daemon.scanNow(nightPolicy, 'schedule')).toMatchObject({
      kind: 'busy',
      unread: { reason },
    });
    await until('its leadership', () => daemon.told('leader.acquired').length > 0);
    await daemon.daemon.scanNow(nightPolicy, 'schedule');
    expect(await recordsOf(daemon, rolloutId)).toBe(before);
    expect(night.record().creates.length).toBe(creates);
    const status = await statusOf(daemon, rolloutId);
    expect(status).toMatchObject({
      account: 'another',
      endedAt: null,
      eta: { kind: 'unknown', reason: 'account' },
      blockers: [{ reason }],
    });
    expect((await daemon.get('/readyz')).status).toBe(200);
    expect((await daemon.get('/readyz')).text).toContain(`${rolloutId} is left alone`);
    const refused = await applyAsShown(daemon.operations, {
      rolloutId,
      verb: 'resume',
      by: 'ann',
      reason: '',
    });
    expect(refused).toMatchObject({ kind: 'refused', reason });
    await daemon.close();
    // Its own account goes on with it where it stood.
    const back = await night.startDaemon();
    expect(await untilEnded(back, rolloutId)).toMatchObject({ state: 'succeeded', account: 'own' });
    expect(back.told('rollout.foreign')).toEqual([]);
  });
});

describe.concurrent('a key that was rotated in the same account', () => {
  it('also while a daemon with the old key still runs', async ({ expect, onTestFinished }) => {
    const input: NightInput = { redis: redis.config(), scenario: { ...slow, ...accounts } };
    const night = await aDaemonNight(input, onTestFinished);
    const old = await night.startDaemon();
    const rolloutId = await scan(old);
    const next = await night.startDaemon({ service: nextKey });
    const ended = await untilEnded(next, rolloutId);
    expect(ended.state).toBe('succeeded');
    const tied = (await next.operations.readEvents(rolloutId, 1_000))?.filter(
      ({ event }) => event === 'rollout.tied',
    );
    expect(tied).toHaveLength(1);
  });
});
