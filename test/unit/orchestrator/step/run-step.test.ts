import { describe, expect, it, vi } from 'vitest';
import { reconcile } from '../../../../src/orchestrator/lead/reconcile.ts';
import type { DaemonNote, EventSink } from '../../../../src/orchestrator/ports/event-sink.ts';
import type { Answer, FleetService } from '../../../../src/orchestrator/ports/fleet-service.ts';
import { runStep } from '../../../../src/orchestrator/step/run-step.ts';
import { makeObservations, type Observations } from '../../../../src/orchestrator/watch/observations.ts';
import type { Rollout } from '../../../../src/rollout/model/rollout.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import type { ServiceFailure } from '../../../../src/rollout/upgrade/failure-classes.ts';
import {
  aCollector,
  anUpgrade,
  anUpgradingOne,
  aPolicy,
  aRollout,
  aWave,
  reserving,
  someGroups,
  startedAt as t,
} from '../../../support/builders.ts';
import { lossless } from '../../../support/lossless.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import { countingStore } from '../../../support/store/counting-store.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';

const week = 7 * 86_400_000;
const unasked = async (): Promise<never> => {
  throw new Error('nobody asks this here');
};
const nothing: FleetService = {
  listBuilds: unasked,
  readFleet: unasked,
  readInventory: unasked,
  findCollector: unasked,
  reserveCreate: unasked,
  pollTask: unasked,
  pollCollector: unasked,
};

/** One upgrade of one rollout, by a clock that the test moves. */
async function aJob(
  rollout: Rollout,
  upgrade: Upgrade,
  fleet: Partial<FleetService>,
  {
    trustedSince = () => 0,
    note,
    observations = quietParts.observations,
  }: {
    readonly trustedSince?: () => number;
    readonly note?: EventSink['note'];
    readonly observations?: Observations;
  } = {},
) {
  const store = makeMemoryRolloutStore();
  await store.freeze({ rollout, upgrades: [upgrade], groups: someGroups(), events: [] });
  const clock = { at: t, now: () => clock.at };
  const parts = {
    ...quietParts,
    sink: { ...quietParts.sink, ...(note === undefined ? {} : { note }) },
    store,
    register: makeMemoryFleetRegister(),
    clock,
    policies: ['production', 'other'],
    fleet: { ...nothing, ...fleet },
    trustedSince,
  };
  const run = () =>
    runStep(
      parts,
      { rolloutId: rollout.id, collectorId: upgrade.identity.collectorId },
      new AbortController().signal,
    );
  const stored = async () => lossless(await store.loadUpgrade(rollout.id, upgrade.identity.collectorId));
  /** Comes back whenever it wants to, for a week at most. */
  const runOn = async () => {
    while (clock.at < t + week) {
      const outcome = await run();
      if (outcome.job === 'end') return;
      clock.at = Math.max(clock.at + 1, outcome.at);
    }
  };
  const lead = () =>
    reconcile(
      {
        ...parts,
        queue: { deliver: async () => undefined, bringForward: unasked },
        backgroundTasks: { run: unasked },
        gates: { ask: unasked },
        observations,
      },
      rollout.id,
      1,
      1_000,
    );
  return { store, clock, run, runOn, lead, stored };
}

const failing =
  (failure: ServiceFailure) =>
  async <T>(): Promise<Answer<T>> => ({ ok: false, failure });

describe('an aborted rollout (P9)', () => {
  const refused: ServiceFailure = { kind: 'refused', code: 'no', status: 400, detail: '' };
  const unavailable: ServiceFailure = { kind: 'unavailable', sent: true, detail: 'HTTP 500' };

  it.each([
    ['a create in doubt', refused, anUpgrade({ state: 'starting', sentAt: t, dueAt: t, startBy: null })],
    ['an adopted one', refused, anUpgradingOne({ taskId: null, dueAt: t })],
    ['its task', refused, anUpgradingOne({ dueAt: t })],
    [
      'a create without an answer',
      unavailable,
      anUpgrade({ state: 'starting', sentAt: t, dueAt: t, startBy: null }),
    ],
    ['a task without an answer', unavailable, anUpgradingOne({ dueAt: t })],
  ])('ends, although looks at %s are always in vain', async (_what, failure, upgrade) => {
    const rollout = aRollout({ state: 'aborted' });
    const job = await aJob(rollout, upgrade, {
      pollCollector: failing(failure),
      pollTask: failing(failure),
      listBuilds: async () => ({ ok: true, value: [] }),
    });
    await job.runOn();
    await job.lead();
    expect(await job.store.activeRolloutIds(['production'])).toEqual([]);
  });

  it('does not end what a service that is down says nothing about (P13)', async () => {
    const down = failing(unavailable);
    const fleet = { pollCollector: down, pollTask: down, listBuilds: down };
    const job = await aJob(aRollout({ state: 'aborted' }), anUpgradingOne({ dueAt: t }), fleet);
    await job.runOn();
    expect(await job.stored()).toMatchObject({ progress: { state: 'upgrading' } });
  });
});

describe('a record from before Redis was away', () => {
  it('is looked at before its create, however fresh it says it is (P1)', async () => {
    const queued = anUpgrade({ state: 'queued', dueAt: t, freshAt: t, startBy: null });
    const looked: number[] = [];
    const job = await aJob(
      aRollout(),
      queued,
      {
        pollCollector: async ({ collectorId }) => {
          looked.push(collectorId);
          return failing({ kind: 'unavailable', sent: true, detail: '' })();
        },
      },
      { trustedSince: () => t + 1 },
    );
    job.clock.at = t + 2;
    await job.run();
    expect(looked).toEqual([queued.identity.collectorId]);
  });
});

describe('a create that waits for its place in the API budget', () => {
  const queued = anUpgrade({ state: 'queued', dueAt: t, freshAt: t, startBy: null });

  /** A budget whose place comes after `meanwhile`. */
  async function aWaitingCreate(meanwhile: (job: Awaited<ReturnType<typeof aJob>>) => unknown) {
    const rollout = aRollout();
    const sent: number[] = [];
    const looked: number[] = [];
    const job = await aJob(rollout, queued, {
      reserveCreate: reserving(
        async () => {
          sent.push(job.clock.at);
          return { ok: true, value: { taskId: '7' } };
        },
        () => meanwhile(job),
      ),
      pollCollector: async () => {
        looked.push(job.clock.at);
        return { ok: false, failure: { kind: 'unavailable', sent: true, detail: '' } };
      },
    });
    return { job, sent, looked };
  }

  it('leaves when its place comes soon', async () => {
    const { job, sent, looked } = await aWaitingCreate(({ clock }) => (clock.at += 59_000));
    await job.run();
    expect({ sent, looked }).toEqual({ sent: [t + 59_000], looked: [] });
  });

  it('does not leave when it was looked at long ago by then, and is looked at anew (P1)', async () => {
    const { job, sent, looked } = await aWaitingCreate(({ clock }) => (clock.at += 600_000));
    await job.run();
    expect({ sent, looked }).toEqual({ sent: [], looked: [t + 600_000] });
    expect(await job.stored()).toMatchObject({ progress: { state: 'queued' } });
  });

  it('says so when it could not leave within its second, and waits for its turn again (P4)', async () => {
    const notes: DaemonNote[] = [];
    const job = await aJob(
      aRollout(),
      queued,
      {
        reserveCreate: reserving(async () => ({ ok: false, failure: { kind: 'cancelled', sent: false } })),
        pollCollector: async () => ({
          ok: false,
          failure: { kind: 'unavailable', sent: true, detail: '' },
        }),
      },
      { note: (note) => notes.push(note) },
    );
    await job.run();
    expect(notes).toMatchObject([{ event: 'daemon.starved' }]);
    expect(await job.stored()).toMatchObject({ progress: { state: 'queued' }, tally: { attempts: 0 } });
  });

  it('gives its place up when its intent can not be stored', async () => {
    let held = 0;
    const job = await aJob(aRollout(), queued, {
      reserveCreate: async () => {
        held += 1;
        return { ok: true, value: { send: unasked, giveUp: () => (held -= 1) } };
      },
    });
    vi.spyOn(job.store, 'saveIntent').mockRejectedValue(new Error('Redis is away'));
    await expect(job.run()).rejects.toThrow('Redis is away');
    expect(held).toBe(0);
  });

  it('does not leave when the clock was set back (P1)', async () => {
    const { job, sent } = await aWaitingCreate(({ clock }) => (clock.at -= 600_000));
    await job.run();
    expect(sent).toEqual([]);
  });

  it('asks the store once for all other policies, while it holds a place in the rate, and for one hold', async () => {
    const register = countingStore(makeMemoryFleetRegister());
    const kept = makeMemoryRolloutStore();
    const counted = countingStore(kept);
    const others = Array.from({ length: 50 }, (_, index) => `other${index}`);
    for (const name of others) {
      const rollout = aRollout({ id: `${name}-20260302-1`, policy: aPolicy({ name }) });
      await kept.freeze({ rollout, upgrades: [], groups: someGroups(), events: [] });
    }
    const upgrade = anUpgrade({ state: 'queued', dueAt: t, freshAt: t, startBy: null });
    await kept.freeze({ rollout: aRollout(), upgrades: [upgrade], groups: someGroups(), events: [] });
    const inPlace = new Map<string, number>();
    let before: ReadonlyMap<string, number> = new Map();
    const fleet: FleetService = {
      ...nothing,
      reserveCreate: reserving(
        async () => {
          for (const [name, calls] of counted.calls) inPlace.set(name, calls - (before.get(name) ?? 0));
          return { ok: true, value: { taskId: '7' } };
        },
        () => {
          before = new Map(counted.calls);
        },
      ),
    };
    const parts = {
      ...quietParts,
      store: counted.store,
      register: register.store,
      clock: { now: () => t },
      policies: ['production', ...others],
      fleet,
    };
    await runStep(parts, { rolloutId: aRollout().id, collectorId: 1 }, new AbortController().signal);
    expect((await kept.loadUpgrade(aRollout().id, 1))?.progress.state).toBe('upgrading');
    expect(Object.fromEntries([...inPlace].filter(([, calls]) => calls > 0))).toEqual({
      findUpgradesOf: 1,
      saveIntent: 1,
    });
    expect(Object.fromEntries(register.calls)).toEqual({ holdsOf: 1 });
  });

  it('does not leave when another rollout has begun to upgrade the collector (P1)', async () => {
    const { job, sent } = await aWaitingCreate(async ({ store }) => {
      const rollout = aRollout({ id: 'other-20260302-1', policy: aPolicy({ name: 'other' }) });
      const upgrades = [anUpgradingOne({}, { rolloutId: rollout.id })];
      await store.freeze({ rollout, upgrades, groups: someGroups(), events: [] });
    });
    await job.run();
    expect(sent).toEqual([]);
    expect(await job.stored()).toMatchObject({
      progress: {
        state: 'deferred',
        condition: 'inUpgrade',
        reason: { kind: 'claimed', rollout: 'other-20260302-1' },
      },
    });
  });
});

describe('a step whose record may be older than a create that Redis has forgotten (P1)', () => {
  it('takes a list for an answer only when that create had arrived by then, or never will', async () => {
    const looks: unknown[] = [];
    const queued = anUpgrade({ state: 'queued', dueAt: t, freshAt: t, startBy: null });
    const fleet: Partial<FleetService> = {
      pollCollector: async (look) => {
        looks.push(look);
        return { ok: false, failure: { kind: 'unavailable', sent: true, detail: '' } };
      },
    };
    const job = await aJob(aRollout(), queued, fleet, { trustedSince: () => t + 100 });
    await job.run();
    const { collectorId, toBuild: upgradableTo } = queued.identity;
    expect(looks).toEqual([
      { collectorId, upgradableTo, urgent: true, listedSince: t + 100 + quietParts.answerWithinMs },
    ]);
  });
});

describe('a collector whose row was read a moment before it was admitted', () => {
  const firstCall = async (trustedSince: number) => {
    const calls: string[] = [];
    const observations = makeObservations();
    const pending = anUpgrade({ state: 'pending' }, { eligibleAt: t, offeredAt: t - 10_000 });
    observations.note(
      { collectors: [aCollector({ id: pending.identity.collectorId })], serviceAt: t },
      t + 2,
    );
    const unanswered = (call: string) => async (): Promise<Answer<never>> => {
      calls.push(call);
      return { ok: false, failure: { kind: 'unavailable', sent: true, detail: '' } };
    };
    const fleet = { pollCollector: unanswered('look'), reserveCreate: unanswered('create') };
    const rollout = aRollout({ waves: [aWave({ state: 'open', size: 1 })] });
    const job = await aJob(rollout, pending, fleet, { trustedSince: () => trustedSince, observations });
    job.clock.at = t + 2;
    await job.lead();
    await job.run();
    job.clock.at = t + 30_000;
    await job.run();
    return calls[0];
  };

  it('is created for without a look; and looked at where Redis may have lost a create since its plan (P1)', async () => {
    expect(await firstCall(t)).toBe('create');
    expect(await firstCall(t + 1)).toBe('look');
  });
});

describe('a step that has stored what it saw', () => {
  it('knows from that when to come back, and reads its record once', async () => {
    const job = await aJob(aRollout(), anUpgradingOne({ dueAt: t }), {
      pollTask: async () => ({ ok: true, value: { status: 6, message: '', serviceAt: t } }),
    });
    const reads = vi.spyOn(job.store, 'loadUpgrades');
    const outcome = await job.run();
    expect(reads).toHaveBeenCalledTimes(1);
    const stored = await job.stored();
    expect(outcome).toEqual({
      job: 'comeBack',
      at: stored !== undefined && 'dueAt' in stored.progress ? stored.progress.dueAt : t,
    });
    expect(outcome).not.toEqual({ job: 'comeBack', at: t });
  });
});

describe('a create that is refused since a person upgraded the collector by hand', () => {
  const queued = anUpgrade({ state: 'queued', dueAt: t, freshAt: t, startBy: null });
  const refusing = reserving(async () => ({
    ok: false,
    failure: { kind: 'refused', code: 'collector.version.invalid', detail: 'no' },
  }));
  const showing = (build: string): FleetService['pollCollector'] => {
    const value = { build, alive: true, lastSeenAlive: t, serviceAt: t, upgradable: null };
    return async () => ({ ok: true, value });
  };
  const offering = (version: string): FleetService['listBuilds'] => {
    return async () => ({ ok: true, value: [{ version, latest: true }] });
  };

  it('is withdrawn, and the builds on offer are not even asked for', async () => {
    const fleet = { reserveCreate: refusing, pollCollector: showing(queued.identity.toBuild) };
    const job = await aJob(aRollout(), queued, fleet);
    expect(await job.run()).toEqual({ job: 'end' });
    expect(await job.stored()).toMatchObject({
      progress: { state: 'withdrawn', reason: { kind: 'onBuild' } },
    });
  });

  it('is settled by the next run when a kill comes between the refusal and the observation', async () => {
    let creates = 0;
    let isKilled = true;
    const job = await aJob(aRollout(), queued, {
      reserveCreate: async (...call) => {
        creates += 1;
        return refusing(...call);
      },
      pollCollector: async (...call) => {
        if (isKilled) throw new Error('killed');
        return showing(queued.identity.toBuild)(...call);
      },
    });
    await expect(job.run()).rejects.toThrow('killed');
    expect(await job.stored()).toMatchObject({ progress: { state: 'queued', refused: { of: 'version' } } });
    isKilled = false;
    // However long after: the record says what has to be settled, not how fresh it is.
    job.clock.at += week;
    await job.run();
    expect(await job.stored()).toMatchObject({ progress: { state: 'withdrawn' }, tally: { attempts: 0 } });
    expect(creates).toBe(1);
  });

  it('holds the rollout before it gives its slot back when the build is no longer on offer (P6)', async () => {
    const fleet = { reserveCreate: refusing, pollCollector: showing('19.441-2') };
    const rollout = aRollout();
    const job = await aJob(rollout, queued, { ...fleet, listBuilds: offering('19.999-9') });
    const saves: string[] = [];
    const { saveRollout, saveUpgrade } = job.store;
    vi.spyOn(job.store, 'saveRollout').mockImplementation((...call) => {
      saves.push(call[0].rollout.state);
      return saveRollout(...call);
    });
    vi.spyOn(job.store, 'saveUpgrade').mockImplementation((...call) => {
      saves.push(call[0].after.progress.state);
      return saveUpgrade(...call);
    });
    await job.run();
    expect(saves.slice(-2)).toEqual(['held', 'pending']);
  });

  it('fails the collector for good when it runs another build, and the target is on offer', async () => {
    const fleet = { reserveCreate: refusing, pollCollector: showing('19.441-2') };
    const job = await aJob(aRollout(), queued, { ...fleet, listBuilds: offering(queued.identity.toBuild) });
    await job.run();
    expect(await job.stored()).toMatchObject({ progress: { state: 'failed', failureClass: 'permanent' } });
  });
});
