import { describe, it } from 'vitest';
import { settleCollector } from '../../../src/reference-service/fleet/simulated-collector.ts';
import { lossless } from '../../support/lossless.ts';
import { applyAsShown } from '../../support/night/as-shown.ts';
import {
  activeOf,
  aDaemonNight,
  aStartedNight,
  type Night,
  type NightDaemon,
  nightPolicy,
  rollBack,
  scan,
  statusOf,
  untilEnded,
  untilState,
  untilWave,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();
const by = { by: 'test', reason: 'a test' };
const oneWave = [{ name: 'all', maxFailures: '20%' }];
const fleet = { size: 12 };

function buildsOf({ service }: Night): ReadonlyMap<number, string> {
  const world = service.world;
  return new Map(
    world.collectors().map((each) => [each.facts.id, settleCollector(each, world.now()).version]),
  );
}

async function eventsOf({ operations }: NightDaemon, rolloutId: string) {
  return (await operations.readEvents(rolloutId, 1_000)) ?? [];
}

describe.concurrent('what has not the shape of a rollout id', () => {
  it('such as the name of a policy, is a rollout that nobody knows, and no error of ours', async ({
    expect,
    onTestFinished,
  }) => {
    const night = await aDaemonNight({ redis: redis.config() }, onTestFinished);
    const { url, operations } = await night.startDaemon();
    for (const rolloutId of [nightPolicy, 'x', '..%2f..', '%00', '__proto__', '-20261121-', '20261121-1']) {
      const path = `${url}/api/v1/rollouts/${rolloutId}`;
      expect([rolloutId, (await fetch(path)).status]).toEqual([rolloutId, 404]);
      for (const part of ['collectors', 'events', 'verbs'])
        expect((await fetch(`${path}/${part}`)).status).toBe(404);
      expect((await fetch(`${path}/pause`, { method: 'POST' })).status).toBe(404);
    }
    expect(await operations.apply({ rolloutId: nightPolicy, verb: 'pause', ...by })).toEqual({
      kind: 'unknownRollout',
    });
  });
});

describe.concurrent('a rollout that waits for a person', () => {
  it('starts, opens a wave and goes without a held collector as it is told (P4, P14, P15)', async ({
    expect,
    onTestFinished,
  }) => {
    const waves = [
      { name: 'canary', size: 3, soak: '6h', maxFailures: 0 },
      { name: 'rest', approval: true },
    ];
    const { night, daemon, rolloutId, end } = await aStartedNight(
      { redis: redis.config(), scenario: { fleet }, rollout: { approval: true, waves } },
      onTestFinished,
    );
    const { operations } = daemon;
    const first = await statusOf(daemon, rolloutId);
    expect(first).toMatchObject({ state: 'awaitingApproval', blockers: [{ kind: 'planApproval' }] });
    for (const verb of ['resume', 'pause', 'rollback'] as const)
      expect(await applyAsShown(operations, { rolloutId, verb, ...by })).toMatchObject({ kind: 'refused' });

    // The fleet has changed: the plan is made anew, and approved anew.
    const approve = { rolloutId, verb: 'approve', ...by } as const;
    const [gone] = await upgradesOf(daemon, rolloutId);
    night.service.world.remove(lossless(gone).identity.collectorId);
    expect(await operations.apply({ ...approve, planHash: first.planHash })).toMatchObject({
      kind: 'refused',
    });
    const renewed = await statusOf(daemon, rolloutId);
    expect(renewed).toMatchObject({
      state: 'awaitingApproval',
      planned: first.planned - 1,
      drift: { from: first.planHash, joined: 0, left: 1 },
    });
    expect(night.record().creates).toEqual([]);
    const approved = { ...approve, planHash: renewed.planHash };
    expect(await operations.apply(approved)).toMatchObject({
      kind: 'done',
      status: { state: 'running', reason: 'by test: a test' },
    });
    expect(await operations.apply(approved)).toMatchObject({ kind: 'unchanged' });

    const held = lossless((await upgradesOf(daemon, rolloutId)).find(({ identity: { wave } }) => wave === 1));
    const { collectorId, collectorName: subject } = held.identity;
    const now = async () =>
      (await upgradesOf(daemon, rolloutId)).find(({ identity }) => identity.collectorId === collectorId);
    const subjectHeld = { kind: 'collector', collectorId };
    expect(await operations.hold({ subject, ...by })).toMatchObject({ kind: 'done', subject: subjectHeld });
    expect(await operations.hold({ subject, ...by })).toMatchObject({ kind: 'unchanged' });
    expect(await operations.listHolds()).toMatchObject({ collectors: [{ collectorId }] });
    expect(await now()).toMatchObject({ progress: { state: 'withdrawn' } });
    await daemon.daemon.scanNow(nightPolicy, 'schedule');
    expect(await now()).toMatchObject({ progress: { state: 'withdrawn' } });

    await untilWave(daemon, rolloutId, { index: 0, state: 'soaking' });
    const skip = { rolloutId, verb: 'skipSoak', wave: 'canary', ...by } as const;
    expect(await operations.apply(skip)).toMatchObject({ kind: 'done' });
    const waiting = await untilWave(daemon, rolloutId, { index: 1, state: 'awaitingApproval' });
    expect(waiting.blockers.map(({ kind }) => kind)).toContain('waveApproval');
    expect(await operations.apply({ ...approve, planHash: 'deadbeef' })).toMatchObject({ kind: 'refused' });
    expect(night.record().creates.length).toBe(3);
    expect(await operations.release({ subject, ...by })).toMatchObject({ kind: 'done' });
    // A scan at which the rollout just moves on leaves it to the next one.
    await until('the collector to come back', async () => {
      await daemon.daemon.scanNow(nightPolicy, 'schedule');
      return (await now())?.progress.state === 'pending';
    });
    expect(await operations.apply({ ...approve, wave: 'rest' })).toMatchObject({ kind: 'done' });
    const { status, broken } = await end();
    expect(status).toMatchObject({ state: 'succeeded', counts: { succeeded: status.planned } });
    expect((await eventsOf(daemon, rolloutId)).map(({ event }) => event)).toContain('wave.soakSkipped');
    expect(broken).toEqual([]);
  });
});

describe.concurrent('a rollback', () => {
  it('is begun once it was shown, and once, and brings each collector to the build it had (P15)', async ({
    expect,
    onTestFinished,
  }) => {
    const { night, daemon, rolloutId } = await aStartedNight(
      {
        redis: redis.config(),
        scenario: {
          // What is no longer offered can't be gone back to.
          fleet: { size: 15, shares: { withinOneYear: 0.9, oneToThreeYears: 0 } },
        },
        rollout: { waves: oneWave },
      },
      onTestFinished,
    );
    await untilEnded(daemon, rolloutId);
    const ask = { rolloutId, verb: 'rollback', ...by } as const;
    // What was not shown is not begun (P15).
    expect(await daemon.operations.apply(ask)).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/^the rollback was not confirmed: \d+ go back/),
    });
    expect(await rollBack(daemon, rolloutId)).toMatchObject({ kind: 'done' });
    expect(await daemon.operations.apply(ask)).toMatchObject({ kind: 'unchanged' });
    const ended = await untilEnded(daemon, rolloutId);
    expect(ended.state).toBe('rolledBack');
    const running = ended.counts.succeeded;
    expect(ended.counts.rolledBack + running).toBe(ended.planned);
    // Who still runs the build is named, with the reason, in both rollouts.
    const stays = ended.leftBehind.reduce((sum, { count }) => sum + count, 0);
    expect(stays).toBe(running);
    const rollback = await statusOf(daemon, lossless(ended.rollbackId ?? undefined));
    expect(rollback.leftBehind).toEqual(ended.leftBehind);
    expect(rollback.waves.map(({ name }) => name)).toEqual(['canary', 'rest']);
    expect(rollback.waves[1]?.size).toBeGreaterThan(0);
    expect(rollback.state).toBe(running === 0 ? 'succeeded' : 'finishedWithFailures');
    expect(ended.counts.rolledBack).toBeGreaterThan(0);
    const after = buildsOf(night);
    for (const { identity, progress } of await upgradesOf(daemon, rolloutId))
      if (progress.state === 'rolledBack') expect(after.get(identity.collectorId)).toBe(identity.fromBuild);
    const taken = (await upgradesOf(daemon, rolloutId)).find(
      ({ progress: { state } }) => state === 'rolledBack',
    );
    const explained = await daemon.operations.explain(lossless(taken).identity.collectorName);
    expect(explained).toMatchObject({
      explanations: [{ kind: 'rolledBack', rollout: null, target: ended.targetBuild }],
      history: expect.arrayContaining([
        expect.objectContaining({ rollout: rollback.id, kind: 'rollback', state: 'succeeded' }),
        expect.objectContaining({
          rollout: rolloutId,
          state: 'rolledBack',
          attempts: [expect.objectContaining({ taskId: expect.any(String), state: 'succeeded' })],
        }),
      ]),
    });
  });
});

describe.concurrent('a build that tripped a canary', () => {
  it('is refused for every policy until it is released', async ({ expect, onTestFinished }) => {
    const { daemon, rolloutId } = await aStartedNight(
      {
        redis: redis.config(),
        scenario: {
          fleet: { size: 20 },
          failures: [{ match: { osName: 'Linux' }, outcome: 'failed', message: 'not supported' }],
        },
        rollout: {
          select: { include: { osName: 'Linux' }, exclude: [] },
          waves: [{ name: 'canary', size: 3, maxFailures: 0 }, { name: 'rest' }],
        },
        moreRollouts: [
          {
            name: 'windows',
            select: { include: { osName: 'Windows*' }, exclude: [] },
            upgrade: { deadline: '15s', verifyWithin: '5s', expect: '600ms' },
            waves: oneWave,
          },
        ],
      },
      onTestFinished,
    );
    const held = await untilState(daemon, rolloutId, 'held');
    await until('the end of what runs', async () => activeOf(await statusOf(daemon, rolloutId)) === 0);
    const build = held.targetBuild;
    expect(await daemon.daemon.scanNow('windows', 'operator')).toMatchObject({
      kind: 'nothing',
      reason: expect.stringContaining(`build ${build} is held: ${rolloutId}, wave canary: failures`),
    });
    expect(await applyAsShown(daemon.operations, { rolloutId, verb: 'resume', ...by })).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining(`release ${build} first`),
    });
    expect(await daemon.operations.release({ subject: build, ...by })).toMatchObject({ kind: 'done' });
    expect(await daemon.operations.release({ subject: build, ...by })).toMatchObject({ kind: 'unchanged' });
    expect(await daemon.operations.readAudit(10)).toMatchObject([
      { event: 'build.released', subject: build, by: 'test' },
      { event: 'build.held', subject: build, by: 'daemon' },
    ]);
    const windows = await untilEnded(daemon, await scan(daemon, 'windows'));
    expect(windows.state).toBe('succeeded');

    expect(await daemon.operations.hold({ subject: build, ...by })).toMatchObject({ kind: 'done' });
    expect(await daemon.daemon.scanNow('windows', 'operator')).toMatchObject({ kind: 'nothing' });
  });
});
