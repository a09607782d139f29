import { describe, it } from 'vitest';
import type { ScenarioInput } from '../../../src/reference-service/scenario/scenario.ts';
import type { Upgrade } from '../../../src/rollout/model/upgrade.ts';
import {
  aDaemonNight,
  aStartedNight,
  type Night,
  nightSpeed,
  scan,
  statusOf,
  untilEnded,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { brokenPromises, createdTwice, createsOf } from '../../support/night/judge-night.ts';
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
      fleet: { size: 60 },
      failures: [
        { match: { count: 1 }, outcome: 'failed', message: 'permission denied: not run as root' },
        { match: { count: 4 }, attempts: [1], outcome: 'failed', message: 'download failed: reset' },
      ],
    };
    const exclude = [{ osName: 'Mac*' }, { name: '*web*' }];
    const { night, end } = await aStartedNight(
      { redis: redis.config(), scenario, rollout: { select: { exclude } } },
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
    expect(spared.length).toBeGreaterThan(3);
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
  });

  it('shares one budget, one leader and one plan between two daemons (P1, P2, P8)', async ({
    expect,
    onTestFinished,
  }) => {
    // Fewer requests than the slots could use, so that two budgets would spend twice as many.
    const requestsPerSecond = 40;
    const night = await aDaemonNight(
      {
        redis: redis.config(),
        scenario: { limits: { requestsPerSecond: requestsPerSecond / nightSpeed } },
        service: { requestsPerSecond },
        rollout: { concurrency: 20, waves: [{ name: 'all', maxFailures: 0 }] },
      },
      onTestFinished,
    );
    const [first, second] = [await night.startDaemon(), await night.startDaemon()];
    const rolloutId = await scan(first);
    expect(await second.daemon.scanNow('night', 'operator')).toEqual({ kind: 'busy', rolloutId });
    const status = await untilEnded(second, rolloutId);
    const upgrades = await upgradesOf(second, rolloutId);
    expect(status.state).toBe('succeeded');
    expect(brokenPromises(night, status, upgrades)).toEqual([]);
    expect(createdTwice(night.record())).toEqual([]);
    const leaders = [first, second].filter((daemon) => daemon.told('leader.acquired').length > 0);
    expect(leaders).toHaveLength(1);
    // Both did their part.
    for (const { log } of [first, second]) {
      expect(log.some(({ event }) => event === 'upgrade.upgrading')).toBe(true);
    }
  });

  it('leaves no job and no slot behind', async ({ expect, onTestFinished }) => {
    const config = redis.config();
    const { night, daemon, rolloutId } = await aStartedNight(
      { redis: config, scenario: { fleet: { size: 20 } } },
      onTestFinished,
    );
    const status = await untilEnded(daemon, rolloutId);
    expect(status.inFlight).toBe(0);
    const { commands } = redis.connect();
    await until('the last job to be gone', async () => {
      const keys = await commands.keys(`${config.keyPrefix}:{queue:bull}:*`);
      return keys.every((key) => !key.includes(status.id));
    });
    expect(night.record().tasksInFlight).toBe(0);
    expect((await statusOf(daemon, status.id)).blockers).toEqual([]);
  });
});
