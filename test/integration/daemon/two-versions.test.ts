import { describe, expect, it } from 'vitest';
import { recordVersion } from '../../../src/redis/schema/unreadable-records.ts';
import {
  aDaemonNight,
  createsReach,
  type NightDaemon,
  scan,
  untilEnded,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { brokenPromises, createdTwice, createsOf } from '../../support/night/judge-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();
const newer = { recordVersion: recordVersion + 1 };
const rollout = { concurrency: 6, waves: [{ name: 'canary', size: 4, soak: '300ms' }, { name: 'rest' }] };

/** The older daemon has met the rollout, and says why it does nothing for it. */
async function untilLeftAlone(daemon: NightDaemon, rolloutId: string): Promise<void> {
  await until('the older daemon to leave the rollout alone', async () => {
    const ready = await daemon.get('/readyz');
    expect(ready.status).toBe(200);
    return ready.text.includes('newer upwave') || undefined;
  });
  const status = await daemon.operations.rolloutStatus(rolloutId);
  expect(status).toMatchObject({
    headline: { kind: 'newerVersion' },
    recordUnreadable: 'newer',
    blockers: [
      {
        kind: 'newerVersion',
        reason: expect.stringContaining(`record version ${newer.recordVersion}`),
        until: null,
      },
    ],
  });
  expect(daemon.told('record.newer').length).toBeGreaterThan(0);
  const pause = { rolloutId, verb: 'pause', by: 'ann', reason: '' } as const;
  expect((await daemon.operations.apply(pause)).kind).toBe('refused');
}

describe.concurrent('two versions of upwave side by side', () => {
  it('the older one, which began the rollout and leads, gives way to the newer one (P1, P11)', async ({
    onTestFinished,
  }) => {
    const night = await aDaemonNight(
      { redis: redis.config(), scenario: { fleet: { size: 15 } }, rollout },
      onTestFinished,
    );
    const older = await night.startDaemon();
    const rolloutId = await scan(older);
    await createsReach(night, 2);
    const next = await night.startDaemon(newer);
    await untilLeftAlone(older, rolloutId);
    const status = await untilEnded(next, rolloutId);
    expect(status.state).toBe('succeeded');
    expect(brokenPromises(night, status, await upgradesOf(next, rolloutId))).toEqual([]);
    expect(createdTwice(night.record())).toEqual([]);
  });

  it('an older one alone starts nothing of it, until a daemon of the newer version comes back (P4, P11)', async ({
    onTestFinished,
  }) => {
    const night = await aDaemonNight(
      { redis: redis.config(), scenario: { fleet: { size: 15 } }, rollout },
      onTestFinished,
    );
    const first = await night.startDaemon(newer);
    const rolloutId = await scan(first);
    await createsReach(night, 2);
    await first.close();
    const creates = createsOf(night.record()).size;
    const older = await night.startDaemon();
    await untilLeftAlone(older, rolloutId);
    await until('it to lead for a while', () => older.told('leader.acquired').length > 0 || undefined);
    expect(createsOf(night.record()).size).toBe(creates);
    // Side by side they take turns of ten seconds, which the other test waits for.
    await older.close();
    const again = await night.startDaemon(newer);
    const status = await untilEnded(again, rolloutId);
    expect(brokenPromises(night, status, await upgradesOf(again, rolloutId))).toEqual([]);
    expect(createdTwice(night.record())).toEqual([]);
  });
});
