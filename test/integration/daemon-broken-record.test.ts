import { describe, expect, it, onTestFinished } from 'vitest';
import { rolloutKeys } from '../../src/redis/rollout-keys.ts';
import { aStartedNight, untilEnded, upgradesOf } from '../support/daemon-night.ts';
import { brokenPromises, createsOf } from '../support/judge-night.ts';
import { useRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const redis = useRedis();

describe('a rollout with a record that cannot be read, of a collector that is just upgraded', () => {
  it('is told of, and comes to its end when it is aborted, with that one seen to its own (P1, P9)', async () => {
    const config = redis.config();
    const { commands } = redis.connect();
    const rollout = { waves: [{ name: 'all', maxFailures: '20%' }] };
    const { night, daemon, rolloutId } = await aStartedNight({ redis: config, rollout }, onTestFinished);
    const { records } = rolloutKeys(config.keyPrefix, rolloutId);
    const [running] = await until('one that runs', async () => {
      const all = await upgradesOf(daemon, rolloutId);
      const found = all.filter(({ state }) => state === 'upgrading');
      return found.length > 0 && found;
    });
    const collectorId = running?.collectorId ?? 0;
    await commands.hset(records, String(collectorId), '{"state":');
    const isTold = () => daemon.log.some(({ event }) => event === 'record.broken');
    await until('it to be told', isTold);
    const explained = await daemon.operations.explain(String(collectorId));
    expect(explained).toMatchObject({
      kind: 'explained',
      explanations: [{ rollout: rolloutId, reason: expect.stringContaining("can't be read") }],
    });

    const abort = { rolloutId, verb: 'abort', by: 'ann', reason: 'enough' } as const;
    expect((await daemon.operations.apply(abort)).kind).toBe('done');
    const status = await untilEnded(daemon, rolloutId);
    const upgrades = await upgradesOf(daemon, rolloutId);
    expect(brokenPromises(night, status, upgrades)).toEqual([]);
    expect(upgrades.find((each) => each.collectorId === collectorId)?.state).toBe('succeeded');
    expect(createsOf(night.record()).get(collectorId)).toBe(1);
    expect(daemon.log.filter(({ event }) => event === 'record.broken').length).toBe(1);
    expect(daemon.log.filter(({ event }) => event === 'reconcile.failed')).toEqual([]);
  });
});
