import { describe, expect, it } from 'vitest';
import { recordVersion } from '../../../src/redis/schema/unreadable-records.ts';
import { lossless } from '../../support/lossless.ts';
import {
  createsReach,
  endOf,
  type NightDaemon,
  nightPolicy,
  statusOf,
} from '../../support/night/daemon-night.ts';
import { createdTwice, createsOf } from '../../support/night/judge-night.ts';
import { useNights } from '../../support/night/nights.ts';
import { emptyRedis } from '../../support/redis/empty-redis.ts';
import { until } from '../../support/until.ts';

const { redis, aStartedNight } = useNights();

describe.concurrent('daemons whose Redis loses its data', () => {
  it('report it, restore the holds, and start nothing that an operator had stopped (P4, P5, P11)', async (test) => {
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
      await until('it to say so', () => each.reported('redis.emptied').length > 0);
      const reason = expect.stringContaining(`${rolloutId} (paused)`);
      expect(each.reported('redis.emptied')).toMatchObject([{ level: 'error', reason }]);
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

describe.concurrent('two versions of upwave', () => {
  const newer = { recordVersion: recordVersion + 1 };
  const rollout = { concurrency: 6, waves: [{ name: 'canary', size: 4, soak: '300ms' }, { name: 'rest' }] };
  const input = { scenario: { fleet: { size: 10 } }, rollout };

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
    expect(daemon.reported('record.newer').length).toBeGreaterThan(0);
    const pause = { rolloutId, verb: 'pause', by: 'ann', reason: '' } as const;
    expect((await daemon.operations.apply(pause)).kind).toBe('refused');
  }

  it('run side by side: the older one, which started the rollout and leads, hands it over to the newer one (P1, P11)', async (test) => {
    const { night, daemon: older, rolloutId } = await aStartedNight(test, input);
    await createsReach(night, 2);
    const next = await night.startDaemon(newer);
    await untilLeftAlone(older, rolloutId);
    const { status, broken } = await endOf(night, next, rolloutId);
    expect([status.state, broken, createdTwice(night.record())]).toEqual(['succeeded', [], []]);
  });
});
