import { describe, it } from 'vitest';
import { lossless } from '../../support/lossless.ts';
import { applyAsShown } from '../../support/night/as-shown.ts';
import {
  aStartedNight,
  nightPolicy,
  scan,
  statusOf,
  untilEnded,
  untilWave,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();

describe.concurrent('late joiners', () => {
  const waves = [
    { name: 'canary', size: 4, soak: '0s' },
    { name: 'rest', approval: true },
  ];

  it('enter the last wave that has begun, as far as it has seats, at the next look for work, and end like the others', async ({
    expect,
    onTestFinished,
  }) => {
    const halves = [{ name: 'canary', size: '50%', soak: '0s' }, ...waves.slice(1)];
    const { night, daemon, rolloutId, end } = await aStartedNight(
      { redis: redis.config(), scenario: { fleet: { size: 20 } }, rollout: { waves: halves } },
      onTestFinished,
    );
    await untilWave(daemon, rolloutId, { index: 1, state: 'awaitingApproval' });
    const before = new Set(
      (await upgradesOf(daemon, rolloutId)).map(({ identity: { collectorId } }) => collectorId),
    );
    const world = night.service.world;
    // Newcomers run any build; some need the upgrade.
    for (let made = 0; made < 12; made += 1) world.appear();
    expect(await daemon.daemon.scanNow(nightPolicy, 'schedule')).toEqual({ kind: 'busy', rolloutId });
    const joined = (await upgradesOf(daemon, rolloutId)).filter(
      ({ identity: { collectorId } }) => !before.has(collectorId),
    );
    expect(joined.length).toBeGreaterThan(2);
    const canary = Math.ceil((before.size + joined.length) / 2);
    const seats = canary - Math.ceil(before.size / 2);
    expect(joined.filter(({ identity: { wave } }) => wave === 0).length).toBe(seats);
    const { waves: shown } = await statusOf(daemon, rolloutId);
    expect(shown).toMatchObject([
      { joined: seats, size: canary },
      { joined: joined.length - seats, size: before.size + joined.length - canary },
    ]);
    const events = (await daemon.operations.readEvents(rolloutId, 100)) ?? [];
    expect(events.find(({ event }) => event === 'rollout.joined')?.reason).toMatch(
      new RegExp(`^${joined.length} late joiners: `),
    );
    await until('their end', async () => {
      const { counts } = lossless((await statusOf(daemon, rolloutId)).waves[0]);
      return counts.succeeded === canary;
    });
    await applyAsShown(daemon.operations, { rolloutId, verb: 'approve', by: 'test', reason: '' });
    const { status: ended, broken } = await end();
    expect(ended.state).toBe('succeeded');
    expect(broken).toEqual([]);
  });
});

describe.concurrent('a newer build', () => {
  const waves = [
    { name: 'canary', size: 4, soak: '0s' },
    { name: 'rest', approval: true },
  ];

  it('ends it where the policy says so, and the next rollout takes it up', async ({
    expect,
    onTestFinished,
  }) => {
    const { night, daemon, rolloutId } = await aStartedNight(
      {
        redis: redis.config(),
        scenario: { fleet: { size: 12 } },
        rollout: { waves, target: { supersede: true } },
      },
      onTestFinished,
    );
    night.service.world.offerBuild('19.600-1');
    await daemon.daemon.scanNow(nightPolicy, 'schedule');
    const ended = await untilEnded(daemon, rolloutId);
    expect(ended).toMatchObject({ state: 'superseded', reason: expect.stringContaining('19.600-1') });
    const next = await statusOf(daemon, await scan(daemon));
    expect(next.targetBuild).toBe('19.600-1');
  });
});
