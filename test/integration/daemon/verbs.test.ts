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

describe.concurrent('a policy with approval', () => {
  it('waits with its plan, and starts when that is approved', async ({ expect, onTestFinished }) => {
    const { night, daemon, rolloutId } = await aStartedNight(
      { redis: redis.config(), rollout: { approval: true, waves: oneWave } },
      onTestFinished,
    );
    const waiting = await statusOf(daemon, rolloutId);
    expect(waiting.state).toBe('awaitingApproval');
    expect(waiting.blockers[0]?.kind).toBe('planApproval');
    for (const verb of ['resume', 'pause', 'rollback'] as const)
      expect(await applyAsShown(daemon.operations, { rolloutId, verb, ...by })).toMatchObject({
        kind: 'refused',
      });
    expect(
      await daemon.operations.apply({ rolloutId, verb: 'approve', planHash: 'another', ...by }),
    ).toMatchObject({ kind: 'refused', reason: expect.stringContaining(waiting.planHash) });
    expect(night.record().creates).toEqual([]);
    const approve = { rolloutId, verb: 'approve', planHash: waiting.planHash, ...by } as const;
    expect(await daemon.operations.apply(approve)).toMatchObject({
      kind: 'done',
      status: { state: 'running', reason: 'by test: a test' },
    });
    expect(await daemon.operations.apply(approve)).toMatchObject({ kind: 'unchanged' });
    const ended = await untilEnded(daemon, rolloutId);
    expect(ended.state).toBe('succeeded');
  });

  it('shows how the fleet moved meanwhile, and asks for approval anew (P14)', async ({
    expect,
    onTestFinished,
  }) => {
    const { night, daemon, rolloutId, end } = await aStartedNight(
      { redis: redis.config(), rollout: { approval: true, waves: oneWave } },
      onTestFinished,
    );
    const [gone] = await upgradesOf(daemon, rolloutId);
    const first = await statusOf(daemon, rolloutId);
    night.service.world.remove(lossless(gone).identity.collectorId);
    const refused = await applyAsShown(daemon.operations, { rolloutId, verb: 'approve', ...by });
    expect(refused).toMatchObject({ kind: 'refused', reason: expect.stringMatching(/1 went \(/) });
    const renewed = await statusOf(daemon, rolloutId);
    expect(renewed).toMatchObject({
      state: 'awaitingApproval',
      planned: first.planned - 1,
      drift: { from: first.planHash, joined: 0, left: 1 },
    });
    expect(renewed.planHash).not.toBe(first.planHash);
    expect(night.record().creates).toEqual([]);
    const again = { rolloutId, verb: 'approve', planHash: renewed.planHash, ...by } as const;
    expect(await daemon.operations.apply(again)).toMatchObject({ kind: 'done' });
    const { status: ended, broken } = await end();
    expect(ended).toMatchObject({ state: 'succeeded', planned: first.planned - 1 });
    expect(broken).toEqual([]);
  });

  it('of a wave: opens it only when that is given', async ({ expect, onTestFinished }) => {
    const waves = [
      { name: 'canary', size: 4, soak: '0s' },
      { name: 'rest', approval: true },
    ];
    const { night, daemon, rolloutId } = await aStartedNight(
      { redis: redis.config(), rollout: { waves } },
      onTestFinished,
    );
    const status = await untilWave(daemon, rolloutId, { index: 1, state: 'awaitingApproval' });
    expect(status.blockers).toContainEqual({
      kind: 'waveApproval',
      reason: 'wave rest waits for approval',
      until: null,
    });
    expect(status.waves[1]?.waits).toBe('approval');
    const approve = { rolloutId, verb: 'approve', ...by } as const;
    expect(await daemon.operations.apply({ ...approve, planHash: 'deadbeef' })).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('wave rest waits for approval'),
    });
    expect(night.record().creates.length).toBe(4);
    expect(await daemon.operations.apply({ ...approve, wave: 'rest' })).toMatchObject({ kind: 'done' });
    expect((await untilEnded(daemon, rolloutId)).state).toBe('succeeded');
  });
});

describe.concurrent('a rollback', () => {
  it('takes what was upgraded back to the build it had, when a wave breaks its bounds', async ({
    expect,
    onTestFinished,
  }) => {
    const { night, daemon, rolloutId } = await aStartedNight(
      {
        redis: redis.config(),
        // What is no longer offered can't be gone back to.
        scenario: {
          fleet: { shares: { withinOneYear: 0.9, oneToThreeYears: 0 } },
          failures: [{ match: { osName: 'Linux' }, outcome: 'failed', message: 'permission denied' }],
        },
        rollout: {
          waves: [
            { name: 'windows', match: { osName: 'Windows*' }, soak: '0s' },
            { name: 'rest', maxFailures: 1 },
          ],
          onBreach: 'rollback',
          isolateStrata: false,
        },
      },
      onTestFinished,
    );
    const before = buildsOf(night);
    const ended = await untilEnded(daemon, rolloutId);
    expect(ended.state).toBe('rolledBack');
    const rollback = await statusOf(daemon, lossless(ended.rollbackId ?? undefined));
    expect(rollback).toMatchObject({ kind: 'rollback', rollbackOf: rolloutId, state: 'succeeded' });
    expect(ended.counts.rolledBack).toBe(rollback.planned);
    expect(ended.counts.rolledBack).toBeGreaterThan(3);
    const after = buildsOf(night);
    for (const {
      identity: { collectorId, fromBuild },
      progress: { state },
    } of await upgradesOf(daemon, rolloutId)) {
      if (state !== 'rolledBack') continue;
      expect(after.get(collectorId)).toBe(fromBuild);
      expect(after.get(collectorId)).toBe(before.get(collectorId));
    }
    expect(await daemon.daemon.scanNow(nightPolicy, 'schedule')).toMatchObject({
      kind: 'nothing',
      reason: expect.stringContaining('was rolled back; only an operator starts it again'),
    });
  });

  it('can be asked for when all is over, and once', async ({ expect, onTestFinished }) => {
    const { daemon, rolloutId } = await aStartedNight(
      {
        redis: redis.config(),
        scenario: { fleet: { size: 15, shares: { withinOneYear: 0.9, oneToThreeYears: 0 } } },
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
        scenario: { failures: [{ match: { osName: 'Linux' }, outcome: 'failed', message: 'not supported' }] },
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

describe.concurrent('failed ones', () => {
  it('are tried again when an operator says so, also when all is over', async ({
    expect,
    onTestFinished,
  }) => {
    const { daemon, rolloutId } = await aStartedNight(
      {
        redis: redis.config(),
        scenario: {
          failures: [
            { match: { osName: 'Linux', count: 2 }, attempts: [1], outcome: 'failed', message: 'disabled' },
          ],
        },
        rollout: { waves: oneWave },
      },
      onTestFinished,
    );
    const ended = await untilEnded(daemon, rolloutId);
    expect(ended).toMatchObject({ state: 'finishedWithFailures', counts: { failed: 2 } });
    const retry = { rolloutId, verb: 'retry', failed: 2, ...by } as const;
    expect(await daemon.operations.apply({ ...retry, failureClass: 'timedOut' })).toEqual({
      kind: 'refused',
      reason: 'no upgrade of it failed as timedOut; it has 2 permanent; by reason: 2 "disabled"',
    });
    await untilEnded(daemon, rolloutId);
    expect(await daemon.operations.apply({ ...retry, failureClass: 'Disabled' })).toMatchObject({
      kind: 'done',
    });
    const again = await until('the second end', async () => {
      const status = await statusOf(daemon, rolloutId);
      return status.endedAt !== null && status.counts.failed === 0 && status;
    });
    expect(again.state).toBe('succeeded');
    expect((await eventsOf(daemon, rolloutId)).some(({ event }) => event === 'rollout.reopened')).toBe(true);
  });
});

describe.concurrent('a collector that an operator holds', () => {
  it('leaves the rollout, stays out of it, and comes back when it is released', async ({
    expect,
    onTestFinished,
  }) => {
    const { daemon, rolloutId } = await aStartedNight(
      {
        redis: redis.config(),
        rollout: {
          waves: [
            { name: 'canary', size: 4, soak: '0s' },
            { name: 'rest', approval: true },
          ],
        },
      },
      onTestFinished,
    );
    const held = lossless((await upgradesOf(daemon, rolloutId)).find(({ identity: { wave } }) => wave === 1));
    const subject = held.identity.collectorName;
    const { operations } = daemon;
    expect(await operations.hold({ subject, ...by })).toMatchObject({
      kind: 'done',
      subject: { kind: 'collector', collectorId: held.identity.collectorId },
    });
    expect(await operations.hold({ subject, ...by })).toMatchObject({ kind: 'unchanged' });
    expect(await operations.listHolds()).toMatchObject({
      collectors: [{ collectorId: held.identity.collectorId }],
    });
    const now = async () =>
      (await upgradesOf(daemon, rolloutId)).find(
        ({ identity: { collectorId } }) => collectorId === held.identity.collectorId,
      );
    expect(await now()).toMatchObject({ progress: { state: 'withdrawn', reason: 'held by test: a test' } });

    await daemon.daemon.scanNow(nightPolicy, 'schedule');
    expect(await now()).toMatchObject({ progress: { state: 'withdrawn' } });
    expect(await operations.release({ subject, ...by })).toMatchObject({ kind: 'done' });
    // A look at which the rollout just moves on leaves it to the next one.
    await until('it to come back', async () => {
      await daemon.daemon.scanNow(nightPolicy, 'schedule');
      return (await now())?.progress.state === 'pending';
    });
    await untilWave(daemon, rolloutId, { index: 1, state: 'awaitingApproval' });
    await applyAsShown(operations, { rolloutId, verb: 'approve', ...by });
    const ended = await untilEnded(daemon, rolloutId);
    expect(ended).toMatchObject({ state: 'succeeded', counts: { succeeded: ended.planned } });
  });

  it('is refused with words when nothing is called that', async ({ expect, onTestFinished }) => {
    const night = await aDaemonNight({ redis: redis.config() }, onTestFinished);
    const daemon = await night.startDaemon();
    for (const subject of ['Linux / amd46', 'a;b'])
      expect(await daemon.operations.hold({ subject, ...by })).toMatchObject({ kind: 'unknown' });
    expect(await daemon.operations.hold({ subject: 'no-such-thing', ...by })).toEqual({
      kind: 'unknown',
      reason: 'no-such-thing is no build, no stratum of a current rollout, and no installed collector',
    });
    expect(await daemon.operations.explain('no-such-thing')).toEqual({
      kind: 'unknownCollector',
      nearest: [],
    });
  });
});

describe.concurrent('a stratum that an operator holds', () => {
  it('waits until it is released, while the rest goes on', async ({ expect, onTestFinished }) => {
    const { night, daemon, rolloutId } = await aStartedNight(
      { redis: redis.config(), rollout: { spreadBy: ['osName'], approval: true, waves: oneWave } },
      onTestFinished,
    );
    const { operations } = daemon;
    expect(await operations.hold({ subject: 'linux', ...by })).toMatchObject({
      kind: 'done',
      subject: { kind: 'stratum', label: 'Linux', rolloutId },
    });
    await applyAsShown(operations, { rolloutId, verb: 'approve', ...by });
    const held = await untilState(daemon, rolloutId, 'held');
    expect(held.reason).toMatch(/^all else is done: \d+ collectors of held strata wait \(Linux\)/);
    const os = new Map(night.service.world.collectors().map(({ facts }) => [facts.id, facts.osName]));
    expect(night.record().creates.filter(({ collectorId }) => os.get(collectorId) === 'Linux')).toEqual([]);
    expect(await operations.release({ subject: 'Linux', ...by })).toMatchObject({ kind: 'done' });
    await applyAsShown(operations, { rolloutId, verb: 'resume', ...by });
    expect((await untilEnded(daemon, rolloutId)).state).toBe('succeeded');
  });
});
