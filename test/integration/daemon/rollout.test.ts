import { describe, it } from 'vitest';
import type { ScenarioInput } from '../../../src/reference-service/scenario/scenario.ts';
import type { Upgrade } from '../../../src/rollout/model/upgrade.ts';
import { aStartedNight, type Night, nightSpeed, untilState } from '../../support/night/daemon-night.ts';
import { createsOf } from '../../support/night/judge-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();

// Two clocks that are rounded and asked one after the other.
const clockSlackMs = 10;

/** P3, by the service's record: for each wave but the first, how long after the last end before it its first create came. */
function gapsBeforeWaves(night: Night, upgrades: readonly Upgrade[]): readonly number[] {
  const waveOf = new Map(upgrades.map(({ identity: { collectorId, wave } }) => [collectorId, wave]));
  const { creates } = night.record();
  const waves = [...new Set(waveOf.values())].sort((a, b) => a - b);
  return waves.slice(1).map((wave) => {
    const before = creates.filter(({ collectorId }) => (waveOf.get(collectorId) ?? 0) < wave);
    const own = creates.filter(({ collectorId }) => waveOf.get(collectorId) === wave);
    return Math.min(...own.map(({ at }) => at)) - Math.max(...before.map(({ endsAt }) => endsAt));
  });
}

describe.concurrent('a whole rollout, from the first look to the last proof', () => {
  it('brings every collector to its right end in three waves, and keeps P1, P2, P3, P5, P8, P9', async ({
    expect,
    onTestFinished,
  }) => {
    const scenario: ScenarioInput = {
      fleet: { size: 40 },
      failures: [
        {
          match: { count: 1 },
          attempts: [1],
          outcome: 'failed',
          message: 'permission denied: not run as root',
        },
        { match: { count: 3 }, attempts: [1], outcome: 'failed', message: 'download failed: reset' },
      ],
    };
    const exclude = [{ osName: 'Mac*' }, { name: '*web*' }];
    const config = redis.config();
    const { night, daemon, rolloutId, end } = await aStartedNight(
      { redis: config, scenario, daemons: 2, rollout: { select: { exclude } } },
      onTestFinished,
    );
    const { status, upgrades, broken } = await end();
    const creates = createsOf(night.record());

    expect(status.state).toBe('finishedWithFailures');
    expect(status.counts.failed).toBe(1);
    const text = 'permission denied: not run as root';
    expect(status.causes).toMatchObject([
      { of: 'failed', total: 1, causes: [{ kind: 'failed', failureClass: 'permanent', text, count: 1 }] },
    ]);
    expect(status.counts.succeeded).toBe(status.planned - 1);
    expect(status.waves.map(({ state }) => state)).toEqual(['passed', 'passed', 'passed']);
    expect(broken).toEqual([]);
    // No job and no slot are left behind.
    expect(status).toMatchObject({ inFlight: 0, blockers: [] });
    const { commands } = redis.connect();
    await until('the last job to be gone', async () => {
      const keys = await commands.keys(`${config.keyPrefix}:{queue:bull}:*`);
      return keys.every((key) => !key.includes(status.id));
    });
    // One create each, and one more for each that failed for a passing reason.
    const retried = upgrades.filter(({ identity: { collectorId } }) => creates.get(collectorId) === 2);
    expect(
      upgrades.filter(({ identity: { collectorId } }) => creates.get(collectorId) === undefined),
    ).toEqual([]);
    expect([...creates.values()].every((count) => count <= 2)).toBe(true);
    expect(retried.length).toBeGreaterThan(0);
    expect(
      retried.every(
        ({ progress: { state }, tally: { attempts } }) => state === 'succeeded' && attempts === 2,
      ),
    ).toBe(true);
    for (const gapMs of gapsBeforeWaves(night, upgrades)) {
      expect(gapMs).toBeGreaterThanOrEqual((300 - clockSlackMs) * nightSpeed);
    }
    // P5: the ones excluded by name, and Macs, are as they were.
    const spared = night.service.world
      .collectors()
      .filter(({ facts }) => facts.name.includes('web') || facts.osName?.startsWith('Mac') === true);
    expect(spared.length).toBeGreaterThan(2);
    expect(spared.filter(({ facts }) => creates.has(facts.id))).toEqual([]);
    // P10, by the service's own truth.
    for (const {
      progress: { state },
      identity: { collectorId },
    } of upgrades) {
      const shown = night.service.world.collector(collectorId)?.life.version;
      expect([state, shown === status.targetBuild]).toEqual(
        state === 'succeeded' ? ['succeeded', true] : ['failed', false],
      );
    }
    // The failed one is tried again when an operator says so, also when all is over.
    const retry = { rolloutId, verb: 'retry', failed: 1, by: 'test', reason: '' } as const;
    const { operations } = daemon;
    expect(await operations.apply({ ...retry, failureClass: 'timedOut' })).toMatchObject({ kind: 'refused' });
    expect(await operations.apply({ ...retry, failureClass: 'permanent' })).toMatchObject({ kind: 'done' });
    await untilState(daemon, rolloutId, 'succeeded');
  });
});
