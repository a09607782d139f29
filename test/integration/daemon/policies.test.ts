import { describe, it } from 'vitest';
import type { EpochMs } from '../../../src/base/time.ts';
import { lossless } from '../../support/lossless.ts';
import { sendJson, startScriptedServer } from '../../support/network/scripted-server.ts';
import { applyAsShown } from '../../support/night/as-shown.ts';
import {
  activeOf,
  aDaemonNight,
  aStartedNight,
  type Night,
  scan,
  statusOf,
  untilEnded,
  untilState,
  untilWave,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { brokenPromises } from '../../support/night/judge-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();

const minuteMs = 60_000;

/** The instant at which the minute begins that is so many minutes from now. */
function minuteIn(minutes: number): EpochMs {
  return (Math.floor(Date.now() / minuteMs) + minutes) * minuteMs;
}

/** `HH:MM` in UTC. */
function clockAt(instant: EpochMs): string {
  return new Date(instant).toISOString().slice(11, 16);
}

/** `HH:MM` in UTC, so many minutes from now. */
function clockIn(minutes: number): string {
  return clockAt(minuteIn(minutes));
}

function osOf(night: Night): ReadonlyMap<number, string> {
  return new Map(night.service.world.collectors().map(({ facts }) => [facts.id, facts.osName ?? '']));
}

describe.concurrent('a policy that is renamed while its rollout is on its way', () => {
  it('leaves it standing still, and every daemon that starts says so', async ({ expect, onTestFinished }) => {
    const config = redis.config();
    const first = await aDaemonNight({ redis: config, rollout: { name: 'first' } }, onTestFinished);
    const before = await first.startDaemon();
    const rolloutId = await scan(before, 'first');
    await before.operations.apply({ rolloutId, verb: 'pause', by: 'ann', reason: 'lunch' });
    expect(before.told('policy.orphaned')).toEqual([]);
    await first.close();
    const second = await aDaemonNight({ redis: config, rollout: { name: 'second' } }, onTestFinished);
    const after = await second.startDaemon();
    await until('the daemon to say so', () => after.told('policy.orphaned').length > 0);
    expect(after.told('policy.orphaned')).toMatchObject([
      { level: 'warn', policy: 'first', rollout: rolloutId, reason: expect.stringContaining('stands still') },
    ]);
    expect((await after.operations.listPolicies()).orphans).toEqual([
      { id: rolloutId, policy: 'first', state: 'paused' },
    ]);
    await second.close();
    const back = await first.startDaemon();
    expect((await back.operations.listPolicies()).orphans).toEqual([]);
  });
});

describe.concurrent('caps (P2)', () => {
  it('never runs more of one domain at once than its cap, over two daemons, and idles no slot for it', async ({
    expect,
    onTestFinished,
  }) => {
    const night = await aDaemonNight(
      {
        redis: redis.config(),
        // Each runs for a second or more of ours, so that a slow machine, too, can fill the slots.
        scenario: { fleet: { size: 20 }, durations: { median: '6m', p95: '7m', min: '5m', max: '8m' } },
        rollout: { maxInFlightPer: { osName: 2 }, concurrency: 8, waves: [{ name: 'all' }] },
      },
      onTestFinished,
    );
    const daemons = [await night.startDaemon(), await night.startDaemon()] as const;
    const rolloutId = await scan(daemons[0]);
    const status = await untilEnded(daemons[1], rolloutId);
    const os = osOf(night);
    const { creates } = night.record();
    const most = new Map<string, number>();
    for (const { collectorId, at } of creates) {
      const name = os.get(collectorId) ?? '';
      const running = creates.filter(
        (other) => os.get(other.collectorId) === name && other.at <= at && other.endsAt > at,
      );
      most.set(name, Math.max(most.get(name) ?? 0, running.length));
    }
    expect([...most.values()].every((count) => count <= 2)).toBe(true);
    expect(most.size).toBeGreaterThan(2);
    expect(night.record().tasksInFlightMax).toBeGreaterThan(4);
    expect(status.state).toBe('succeeded');
    expect(brokenPromises(night, status, await upgradesOf(daemons[0], rolloutId))).toEqual([]);
  });
});

describe.concurrent('windows (P7)', () => {
  it('starts nothing outside, and says until when', async ({ expect, onTestFinished }) => {
    const opensAt = minuteIn(120);
    const { night, daemon, rolloutId } = await aStartedNight(
      {
        redis: redis.config(),
        rollout: { windows: [{ from: clockAt(opensAt), to: clockIn(300) }] },
      },
      onTestFinished,
    );
    const status = await until('a hold with its end', async () => {
      const now = await statusOf(daemon, rolloutId);
      return now.blockers.some(({ until: end }) => end !== null) && now;
    });
    const [hold] = status.blockers;
    expect(hold?.kind).toBe('window');
    expect(hold?.until).toBe(opensAt);
    expect(status.window).toMatchObject({ isOpen: false, until: opensAt });
    expect(night.record().creates).toEqual([]);
    const pending = (await upgradesOf(daemon, rolloutId)).find(({ identity: { wave } }) => wave === 0);
    const explained = await daemon.operations.explain(String(pending?.identity.collectorId));
    expect(explained).toMatchObject({
      kind: 'explained',
      explanations: [{ state: 'pending', wave: 'canary', reason: 'outside the window', until: opensAt }],
    });
  });

  it('starts nothing that is not expected to end before it closes', async ({ expect, onTestFinished }) => {
    const { night, daemon, rolloutId } = await aStartedNight(
      {
        redis: redis.config(),
        rollout: {
          windows: [{ from: clockIn(-60), to: clockIn(4) }],
          upgrade: { deadline: '35m', expect: '10m' },
        },
      },
      onTestFinished,
    );
    const status = await until('a hold', async () => {
      const now = await statusOf(daemon, rolloutId);
      return now.blockers.length > 0 && now;
    });
    expect(status.blockers[0]?.kind).toBe('windowTooShort');
    expect(night.record().creates).toEqual([]);
  });

  it('works inside an open one', async ({ expect, onTestFinished }) => {
    const { daemon, rolloutId } = await aStartedNight(
      {
        redis: redis.config(),
        rollout: { windows: [{ from: clockIn(-60), to: clockIn(180) }], waves: [{ name: 'all' }] },
      },
      onTestFinished,
    );
    const status = await untilEnded(daemon, rolloutId);
    expect(status.state).toBe('succeeded');
  });
});

describe.concurrent('a build that breaks one stratum', () => {
  it('holds that stratum alone, across the waves, and brings the rest to its end', async ({
    expect,
    onTestFinished,
  }) => {
    const { night, daemon, rolloutId, end } = await aStartedNight(
      {
        redis: redis.config(),
        scenario: {
          fleet: { size: 80 },
          failures: [
            { match: { osName: 'Windows Server 2019' }, outcome: 'failed', message: 'not supported' },
          ],
        },
        rollout: {
          spreadBy: ['osName'],
          select: { exclude: [] },
          waves: [
            { name: 'canary', size: '3 per stratum', soak: '300ms', maxFailures: 0 },
            { name: 'rest', maxFailures: 0 },
          ],
        },
      },
      onTestFinished,
    );
    const held = await untilState(daemon, rolloutId, 'held');
    expect(held.reason).toMatch(
      /^all else is done: \d+ collectors of held strata wait \(Windows Server 2019\)/,
    );
    expect(held.strata.held).toMatchObject([{ label: 'Windows Server 2019', by: 'daemon' }]);
    expect(held.strata.held[0]?.reason).toMatch(/^\d of \d failed, 0 of \d+ elsewhere$/);
    const os = osOf(night);
    const upgrades = await upgradesOf(daemon, rolloutId);
    for (const {
      identity: { collectorId },
      progress: { state },
    } of upgrades) {
      const isBroken = os.get(collectorId) === 'Windows Server 2019';
      if (!isBroken) expect(state).toBe('succeeded');
    }
    const harmed = new Set(night.record().creates.map(({ collectorId }) => collectorId));
    expect([...harmed].filter((id) => os.get(id) === 'Windows Server 2019').length).toBeLessThanOrEqual(3);
    expect(await daemon.operations.listHolds()).toMatchObject({
      builds: [],
      strata: [{ label: 'Windows Server 2019', rolloutId }],
    });

    await applyAsShown(daemon.operations, { rolloutId, verb: 'resume', by: 'test', reason: 'without them' });
    const { status: ended, broken } = await end();
    expect(ended.state).toBe('finishedWithFailures');
    expect(ended.counts.withdrawn).toBeGreaterThan(0);
    expect(broken).toEqual([]);
  });
});

describe.concurrent('a soak', () => {
  const waves = [
    { name: 'canary', size: 4, soak: '3s', maxFailures: 0 },
    { name: 'rest', maxFailures: '20%' },
  ];

  it('counts a collector that dies while its wave soaks, and holds the build everywhere', async ({
    expect,
    onTestFinished,
  }) => {
    const { night, daemon, rolloutId } = await aStartedNight(
      { redis: redis.config(), rollout: { waves } },
      onTestFinished,
    );
    await untilWave(daemon, rolloutId, { index: 0, state: 'soaking' });
    const victim = lossless(
      (await upgradesOf(daemon, rolloutId)).find(({ identity: { wave } }) => wave === 0),
    );
    night.service.world.kill(victim.identity.collectorId);
    const held = await untilState(daemon, rolloutId, 'held');
    expect(held.reason).toBe('wave canary: failures 3 (1 lost x 3), allowed 0');
    const after = (await upgradesOf(daemon, rolloutId)).find(
      ({ identity: { collectorId } }) => collectorId === victim.identity.collectorId,
    );
    expect(after).toMatchObject({ progress: { state: 'unconfirmed', lost: true } });
    expect(after).toHaveProperty('progress.reason', expect.stringMatching(/^died while its wave soaked/));
    expect(held.waves[1]?.counts.pending).toBe(held.waves[1]?.size);
    expect(held.buildHold?.build).toBe(held.targetBuild);
  });

  it('is over at once when an operator skips it, but its collectors are looked at all the same', async ({
    expect,
    onTestFinished,
  }) => {
    const rollout = { waves: [{ name: 'canary', size: 4, soak: '6h', maxFailures: 0 }, { name: 'rest' }] };
    const { daemon, rolloutId } = await aStartedNight({ redis: redis.config(), rollout }, onTestFinished);
    const skip = { rolloutId, verb: 'skipSoak', wave: 'canary', by: 'test', reason: 'in a hurry' } as const;
    expect(await daemon.operations.apply(skip)).toMatchObject({ kind: 'refused' });
    await untilWave(daemon, rolloutId, { index: 0, state: 'soaking' });
    expect(await daemon.operations.apply(skip)).toMatchObject({ kind: 'done' });
    const ended = await untilEnded(daemon, rolloutId);
    expect(ended.state).toBe('succeeded');
    const events = (await daemon.operations.readEvents(rolloutId, 1_000)) ?? [];
    expect(events.find(({ event }) => event === 'wave.soakSkipped')).toMatchObject({
      by: 'test',
      reason: 'by test: in a hurry',
      wave: 'canary',
    });
  });
});

describe.concurrent('gates', () => {
  const gated = (gates: readonly object[]) => ({
    waves: [
      { name: 'canary', size: 4, soak: '300ms', maxFailures: 0, gates },
      { name: 'rest', maxFailures: '20%' },
    ],
  });
  const vector = (value: string) => ({
    status: 'success',
    data: { resultType: 'vector', result: [{ metric: {}, value: [0, value] }] },
  });

  it('go on when the query is met and the webhook agrees, and tell it the figures of the wave', async ({
    expect,
    onTestFinished,
  }) => {
    const server = await startScriptedServer(({ method }, r) =>
      method === 'GET' ? sendJson(r, 200, vector('0.998')) : sendJson(r, 204, undefined),
    );
    onTestFinished(() => server.close());
    const gates = [
      { prometheus: { url: server.url, query: 'up', expect: '>= 0.99' } },
      { prometheus: { url: server.url, query: 'down', expect: '< 0.1' }, name: 'watched', dryRun: true },
      { webhook: { url: `${server.url}/go` } },
    ];
    const { daemon, rolloutId } = await aStartedNight(
      { redis: redis.config(), rollout: gated(gates) },
      onTestFinished,
    );
    const ended = await untilEnded(daemon, rolloutId);
    expect(ended.state).toBe('succeeded');
    expect(ended.waves[0]?.gates.map(({ name, value }) => [name, value])).toEqual([
      ['prometheus', 0.998],
      ['watched', 0.998],
      ['webhook', null],
    ]);
    const told = server.requests.find(({ method }) => method === 'POST');
    expect(JSON.parse(told?.text ?? '')).toMatchObject({
      rollout: rolloutId,
      wave: 'canary',
      size: 4,
      succeeded: 4,
      failed: 0,
    });
  });

  it('stop the rollout when the query is missed: nothing of the next wave starts', async ({
    expect,
    onTestFinished,
  }) => {
    const server = await startScriptedServer((_request, r) => sendJson(r, 200, vector('0.5')));
    onTestFinished(() => server.close());
    const gates = [{ prometheus: { url: server.url, query: 'up', expect: '>= 0.99' } }];
    const rollout = { ...gated(gates), onBreach: 'abort' };
    const { night, daemon, rolloutId } = await aStartedNight(
      { redis: redis.config(), rollout },
      onTestFinished,
    );
    const ended = await untilEnded(daemon, rolloutId);
    expect(ended.state).toBe('aborted');
    expect(ended.reason).toBe('wave canary: prometheus 0.5, expected >= 0.99');
    expect(night.record().creates.length).toBe(4);
  });

  it('hold when they are inconclusive, and when a webhook says so (P14)', async ({
    expect,
    onTestFinished,
  }) => {
    const server = await startScriptedServer(({ path }, r) =>
      path === '/hold' ? sendJson(r, 409, { why: 'change freeze' }) : sendJson(r, 500, {}),
    );
    onTestFinished(() => server.close());
    const more = (name: string, gates: readonly object[]) => ({ name, concurrency: 8, ...gated(gates) });
    const halves = (osName: string) => ({ select: { include: { osName }, exclude: [] } });
    const night = await aDaemonNight(
      {
        redis: redis.config(),
        rollout: {
          ...gated([{ prometheus: { url: server.url, query: 'up', expect: '>= 0.99', every: '1s' } }]),
          ...halves('Linux'),
        },
        moreRollouts: [
          {
            ...more('windows', [{ webhook: { url: `${server.url}/hold` } }]),
            ...halves('Windows*'),
            upgrade: { deadline: '15s', verifyWithin: '5s', expect: '600ms' },
          },
        ],
      },
      onTestFinished,
    );
    const daemon = await night.startDaemon();
    const inconclusive = await untilState(daemon, await scan(daemon), 'held');
    expect(inconclusive.reason).toMatch(/^wave canary: prometheus gave no answer 4 times/);
    // Nothing speaks against the build: other policies may have it.
    expect(inconclusive.buildHold).toBeNull();
    const said = await untilState(daemon, await scan(daemon, 'windows'), 'held');
    expect(said.reason).toMatch(/^wave canary: webhook says hold: .*change freeze/);
    expect(activeOf(said)).toBe(0);
  });
});
