import { describe, expect, it } from 'vitest';
import { lossless } from '../../support/lossless.ts';
import { applyAsShown } from '../../support/night/as-shown.ts';
import {
  createsReach,
  nightPolicy,
  rollBack,
  statusOf,
  untilIdle,
  untilWave,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { createdTwice } from '../../support/night/judge-night.ts';
import { useNights } from '../../support/night/nights.ts';

const { aNight, aStartedNight } = useNights();
const by = { by: 'test', reason: 'a test' };
const oneWave = [{ name: 'all', maxFailures: '20%' }];

describe.concurrent('an operator', () => {
  it('gets no rollout for what has not the shape of an id, such as a name, and causes no error', async (test) => {
    const { url, operations } = await (await aNight(test)).startDaemon();
    for (const rolloutId of [nightPolicy, '..%2f..', '%00', '__proto__', '-20261121-', '20261121-1']) {
      const path = `${url}/api/v1/rollouts/${rolloutId}`;
      for (const part of ['', '/collectors', '/events', '/verbs'])
        expect([rolloutId, part, (await fetch(`${path}${part}`)).status]).toEqual([rolloutId, part, 404]);
      expect((await fetch(`${path}/pause`, { method: 'POST' })).status).toBe(404);
    }
    const pause = { rolloutId: nightPolicy, verb: 'pause', ...by } as const;
    expect(await operations.apply(pause)).toEqual({ kind: 'unknownRollout' });
  });

  it('pauses: once it is acknowledged no daemon sends a create, what runs ends, and a resume goes on (P4)', async (test) => {
    const { night, daemon, rolloutId, end } = await aStartedNight(test, {
      scenario: { fleet: { size: 25 } },
      rollout: { waves: oneWave, concurrency: 4 },
      // Creates are long on their way, so that some have left and not arrived whenever a pause comes.
      behave: ({ method }) => ({ kind: 'pass', delayMs: method === 'POST' ? 200 : 0 }),
    });
    const other = await night.startDaemon();
    const pause = { rolloutId, verb: 'pause', ...by } as const;
    for (const wanted of [4, 12]) {
      await createsReach(night, wanted);
      const paused = await other.operations.apply(pause);
      const pausedAt = night.service.clock.now();
      expect(paused).toMatchObject({ kind: 'done', status: { state: 'paused' } });
      expect(await daemon.operations.apply(pause)).toMatchObject({ kind: 'unchanged' });
      const idle = await untilIdle(other, rolloutId);
      expect(night.record().creates.filter(({ at }) => at > pausedAt)).toEqual([]);
      expect(idle).toMatchObject({ state: 'paused', reason: 'by test: a test' });
      expect(night.record().tasksInFlight).toBe(0);
      const resumed = await applyAsShown(daemon.operations, { rolloutId, verb: 'resume', ...by });
      expect(resumed).toMatchObject({ kind: 'done' });
    }
    const { status, broken } = await end();
    expect([status.state, createdTwice(night.record()), broken]).toEqual(['succeeded', [], []]);
  });

  it('starts a rollout by its plan as it is now, ends a soak, and opens a wave (P4, P15)', async (test) => {
    const waves = [
      { name: 'canary', size: 3, soak: '6h', maxFailures: 0 },
      { name: 'rest', approval: true },
    ];
    const { night, daemon, rolloutId, end } = await aStartedNight(test, {
      scenario: { fleet: { size: 12 } },
      rollout: { approval: true, waves },
    });
    const { operations } = daemon;
    const first = await statusOf(daemon, rolloutId);
    expect(first).toMatchObject({ state: 'awaitingApproval', blockers: [{ kind: 'planApproval' }] });

    // The fleet has changed: the plan is made anew, and approved anew.
    const approve = { rolloutId, verb: 'approve', ...by } as const;
    const [gone] = await upgradesOf(daemon, rolloutId);
    night.service.world.remove(lossless(gone).identity.collectorId);
    const outdated = await operations.apply({ ...approve, planHash: first.planHash });
    expect(outdated).toMatchObject({ kind: 'refused' });
    const renewed = await statusOf(daemon, rolloutId);
    expect(renewed).toMatchObject({ planned: first.planned - 1, drift: { from: first.planHash, left: 1 } });
    expect(night.record().creates).toEqual([]);
    const approved = await operations.apply({ ...approve, planHash: renewed.planHash });
    expect(approved).toMatchObject({ kind: 'done', status: { state: 'running', reason: 'by test: a test' } });

    await untilWave(daemon, rolloutId, { index: 0, state: 'soaking' });
    const skip = { rolloutId, verb: 'skipSoak', wave: 'canary', ...by } as const;
    expect(await operations.apply(skip)).toMatchObject({ kind: 'done' });
    await untilWave(daemon, rolloutId, { index: 1, state: 'awaitingApproval' });
    expect(night.record().creates.length).toBe(3);
    expect(await operations.apply({ ...approve, wave: 'rest' })).toMatchObject({ kind: 'done' });
    const { status, broken } = await end();
    expect([status.state, broken]).toEqual(['succeeded', []]);
  });

  it('begins a rollback that was shown, once, which brings each collector to the build it had (P15)', async (test) => {
    const { night, daemon, rolloutId, end } = await aStartedNight(test, {
      // What is no longer offered can't be gone back to.
      scenario: { fleet: { size: 15, shares: { withinOneYear: 0.9, oneToThreeYears: 0 } } },
      rollout: { waves: oneWave },
    });
    await end();
    const ask = { rolloutId, verb: 'rollback', ...by } as const;
    expect(await daemon.operations.apply(ask)).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/^the rollback was not confirmed: \d+ go back/),
    });
    expect(await rollBack(daemon, rolloutId)).toMatchObject({ kind: 'done' });
    expect(await daemon.operations.apply(ask)).toMatchObject({ kind: 'unchanged' });
    const { status, upgrades } = await end();
    const { counts, planned, leftBehind } = status;
    expect(status.state).toBe('rolledBack');
    expect(counts.rolledBack).toBeGreaterThan(0);
    expect(counts.rolledBack + counts.succeeded).toBe(planned);
    // Who still runs the build is named, with the reason, in both rollouts.
    expect(leftBehind.reduce((sum, { count }) => sum + count, 0)).toBe(counts.succeeded);
    const rollback = await statusOf(daemon, lossless(status.rollbackId ?? undefined));
    expect(rollback.leftBehind).toEqual(leftBehind);
    expect(rollback.waves).toMatchObject([{ name: 'canary' }, { name: 'rest', size: expect.any(Number) }]);
    expect(rollback.state).toBe(counts.succeeded === 0 ? 'succeeded' : 'finishedWithFailures');
    const taken = upgrades.filter(({ progress: { state } }) => state === 'rolledBack');
    for (const { identity } of taken)
      expect(night.service.world.collector(identity.collectorId)?.life.version).toBe(identity.fromBuild);
  });
});
