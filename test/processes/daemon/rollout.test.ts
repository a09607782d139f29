import { describe, expect, it } from 'vitest';
import type { Upgrade } from '../../../src/rollout/model/upgrade.ts';
import { sendJson, startScriptedServer } from '../../support/network/scripted-server.ts';
import { type Night, nightSpeed, rollBack, untilState } from '../../support/night/daemon-night.ts';
import { createsOf } from '../../support/night/judge-night.ts';
import { useNights } from '../../support/night/nights.ts';
import { until } from '../../support/until.ts';

const { redis, aStartedNight } = useNights();

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

describe.concurrent('a whole rollout, from the first scan to the last verification', () => {
  it('brings every collector to the expected end in three waves (P1, P2, P3, P5, P8, P9, P10)', async (test) => {
    const text = 'permission denied: not run as root';
    const { night, daemon, rolloutId, end } = await aStartedNight(test, {
      daemons: 2,
      scenario: {
        failures: [
          { match: { count: 1 }, attempts: [1], outcome: 'failed', message: text },
          { match: { count: 3 }, attempts: [1], outcome: 'failed', message: 'download failed: reset' },
        ],
      },
      rollout: { select: { exclude: [{ osName: 'Mac*' }, { name: '*web*' }] } },
    });
    const { status, upgrades, broken } = await end();
    const creates = createsOf(night.record());

    expect(broken).toEqual([]);
    // No job and no slot are left behind.
    expect(status).toMatchObject({ state: 'finishedWithFailures', inFlight: 0, blockers: [] });
    expect(status.counts).toMatchObject({ failed: 1, succeeded: status.planned - 1 });
    expect(status.causes).toMatchObject([
      { of: 'failed', total: 1, causes: [{ kind: 'failed', failureClass: 'permanent', text, count: 1 }] },
    ]);
    expect(status.waves.map(({ state }) => state)).toEqual(['passed', 'passed', 'passed']);
    const { commands } = redis.connect();
    await until('the last job to be gone', async () => {
      const keys = await commands.keys(`${night.redis.keyPrefix}:{queue:bull}:*`);
      return keys.every((key) => !key.includes(status.id));
    });
    // P10, by the service's own truth; one create each, and one more for each that failed for a passing reason.
    for (const { identity, progress, tally } of upgrades) {
      const shown = night.service.world.collector(identity.collectorId)?.life.version;
      const isUpgraded = progress.state === 'succeeded';
      expect([progress.state, shown === status.targetBuild]).toEqual([progress.state, isUpgraded]);
      expect(creates.get(identity.collectorId)).toBe(tally.attempts);
      expect(tally.attempts).toBeLessThanOrEqual(2);
    }
    expect(upgrades.filter(({ tally: { attempts } }) => attempts === 2).length).toBeGreaterThan(0);
    for (const gapMs of gapsBeforeWaves(night, upgrades))
      expect(gapMs).toBeGreaterThanOrEqual((300 - clockSlackMs) * nightSpeed);
    // P5: the ones excluded by name, and Macs, are as they were.
    const spared = night.service.world
      .collectors()
      .filter(({ facts }) => facts.name.includes('web') || facts.osName?.startsWith('Mac') === true);
    expect(spared.length).toBeGreaterThan(2);
    expect(spared.filter(({ facts }) => creates.has(facts.id))).toEqual([]);
    // The failed one is tried again when an operator says so, also when all is over.
    const retry = { rolloutId, verb: 'retry', failed: 1, by: 'test', reason: '' } as const;
    const { operations } = daemon;
    expect(await operations.apply({ ...retry, cause: 'timedOut' })).toMatchObject({ kind: 'refused' });
    expect(await operations.apply({ ...retry, cause: 'permanent' })).toMatchObject({ kind: 'done' });
    await untilState(daemon, rolloutId, 'succeeded');
  });

  it('queues no more creates than the request rate can start in a minute, however many slots it has', async (test) => {
    const { daemon, rolloutId } = await aStartedNight(test, {
      scenario: { fleet: { size: 200 } },
      service: { requestsPerSecond: 1 },
      rollout: { concurrency: 150, waves: [{ name: 'all', maxFailures: '100%' }] },
    });
    const queuedNow = async () => (await daemon.operations.rolloutStatus(rolloutId))?.counts.queued ?? 0;
    await until('the first to have their turn', async () => (await queuedNow()) > 0);
    // 48 of them could start in a minute; a leader that changes keeps 50.
    expect(await queuedNow()).toBeLessThanOrEqual(50);
  });

  it('is rolled back on request: each of its collectors runs its previous build (P15)', async (test) => {
    const { night, daemon, rolloutId, end } = await aStartedNight(test, {
      // What is no longer offered can't be gone back to.
      scenario: { fleet: { size: 12, shares: { withinOneYear: 0.9, oneToThreeYears: 0 } } },
      rollout: { waves: [{ name: 'all', maxFailures: '20%' }] },
    });
    await end();
    expect(await rollBack(daemon, rolloutId)).toMatchObject({ kind: 'done' });
    const { status, upgrades } = await end();
    expect(status).toMatchObject({ state: 'rolledBack', rollbackId: expect.any(String) });
    const taken = upgrades.filter(({ progress: { state } }) => state === 'rolledBack');
    expect(taken.length).toBe(status.counts.rolledBack);
    expect(taken.length).toBeGreaterThan(0);
    for (const { identity } of taken)
      expect(night.service.world.collector(identity.collectorId)?.life.version).toBe(identity.fromBuild);
  });

  it('continues where a query meets its expectation and a webhook passes; the webhook gets the figures of the wave', async (test) => {
    const result = [{ metric: {}, value: [0, '0.998'] }];
    const vector = { status: 'success', data: { resultType: 'vector', result } };
    const server = await startScriptedServer(({ method }, r) =>
      method === 'GET' ? sendJson(r, 200, vector) : sendJson(r, 204, undefined),
    );
    test.onTestFinished(server.close);
    const gates = [
      { prometheus: { url: server.url, query: 'up', expect: '>= 0.99' } },
      { prometheus: { url: server.url, query: 'down', expect: '< 0.1' }, name: 'watched', dryRun: true },
      { webhook: { url: `${server.url}/go` } },
    ];
    const canary = { name: 'canary', size: 4, soak: '300ms', maxFailures: 0, gates };
    const { rolloutId, end } = await aStartedNight(test, {
      scenario: { fleet: { size: 12 } },
      rollout: { waves: [canary, { name: 'rest', maxFailures: '20%' }] },
    });
    const { status } = await end();
    expect(status.state).toBe('succeeded');
    expect(status.waves[0]?.gates.map(({ name, value }) => [name, value])).toEqual([
      ['prometheus', 0.998],
      ['watched', 0.998],
      ['webhook', null],
    ]);
    const posted = server.requests.find(({ method }) => method === 'POST');
    const figures = { rollout: rolloutId, wave: 'canary', size: 4, succeeded: 4, failed: 0 };
    expect(JSON.parse(posted?.text ?? '')).toMatchObject(figures);
  });
});
