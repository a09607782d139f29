import { describe, expect, it, onTestFinished } from 'vitest';
import { aStartedNight, createsReach, nightPolicy } from '../../support/night/daemon-night.ts';
import { createsOf } from '../../support/night/judge-night.ts';
import { emptyRedis } from '../../support/redis/empty-redis.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();

describe('two daemons whose Redis is emptied', () => {
  it('say so, hold again what was held, and begin nothing that somebody had stopped (P4, P5, P11)', async () => {
    const config = redis.config();
    const { night, daemon, rolloutId } = await aStartedNight(
      { redis: config, scenario: { fleet: { size: 20 } } },
      onTestFinished,
    );
    const other = await night.startDaemon();
    await createsReach(night, 2);
    await daemon.operations.apply({ rolloutId, verb: 'pause', by: 'ann', reason: 'wait' });
    const [untouched] =
      (await daemon.operations.listUpgrades(rolloutId, {
        offset: 0,
        limit: 1,
        state: 'pending',
      })) ?? [];
    if (untouched === undefined) throw new Error('one is left');
    const subject = String(untouched.identity.collectorId);
    await daemon.operations.hold({ subject, by: 'ann', reason: 'never touch' });
    const created = createsOf(night.record()).size;
    // A look for work looks at Redis first, as each daemon does once a second.
    for (const each of [daemon, other]) await each.daemon.scanNow(nightPolicy, 'schedule');

    await emptyRedis(redis.connect().commands, config.keyPrefix);
    for (const origin of ['schedule', 'start'] as const) {
      expect(await other.daemon.scanNow(nightPolicy, origin)).toEqual({
        kind: 'nothing',
        reason: `Redis lost its data, and ${rolloutId} was paused: by ann: wait; only an operator starts it again: upwave start night`,
      });
    }
    expect((await daemon.operations.listHolds()).collectors).toMatchObject([
      { collectorId: untouched.identity.collectorId, by: 'ann', reason: 'never touch' },
    ]);
    const told = () => [daemon, other].map((each) => each.told('redis.emptied'));
    await until('both to say so', () => told().every(({ length }) => length > 0));
    for (const lines of told()) {
      expect(lines).toMatchObject([
        { level: 'error', reason: expect.stringContaining(`${rolloutId} (paused)`) },
      ]);
    }
    expect(await daemon.operations.readAudit(9)).toMatchObject([
      { event: 'record.lost', reason: expect.stringContaining(`held again: collector ${subject}`) },
    ]);
    expect(await daemon.get('/api/v1/audit')).toMatchObject({
      status: 200,
      text: expect.stringContaining('"record.lost"'),
    });
    const { text: metrics } = await daemon.get('/metrics');
    expect(metrics).toContain('upwave_redis_emptied_total 1');
    expect(createsOf(night.record()).size).toBe(created);

    await until('what ran to end at the service', () => night.record().tasksInFlight === 0);
    const again = await daemon.daemon.scanNow(nightPolicy, 'operator');
    // Another day may have begun, whose first one it is then.
    expect(again).toMatchObject({ kind: 'started', rolloutId: expect.stringMatching(/^night-\d{8}-[12]$/) });
    expect(again).not.toMatchObject({ rolloutId });
  });
});
