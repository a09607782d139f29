import { describe, expect, it, vi } from 'vitest';
import type { EpochMs } from '../../../../src/base/time.ts';
import { reconcile } from '../../../../src/orchestrator/lead/reconcile.ts';
import type { FleetService } from '../../../../src/orchestrator/ports/fleet-service.ts';
import { runStep } from '../../../../src/orchestrator/step/run-step.ts';
import { makeObservations, type Observations } from '../../../../src/orchestrator/watch/observations.ts';
import type { AccountStatus } from '../../../../src/rollout/model/account.ts';
import type { Rollout } from '../../../../src/rollout/model/rollout.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import type { ServiceFailure } from '../../../../src/rollout/upgrade/failure-classes.ts';
import { aFleetService, reserving } from '../../../support/builders/service-builders.ts';
import {
  aCollector,
  anUpgrade,
  anUpgradingOne,
  aPolicy,
  aRollout,
  aWave,
  oldBuild,
  startedAt as t,
  targetBuild,
} from '../../../support/builders.ts';
import { aHouse, answering, aSighting, away, failing, freeze, offering } from '../../../support/house.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import { countingStore } from '../../../support/store/counting-store.ts';
import { range } from '../../../support/store/store-changes.ts';
import { aQueuedOne, aStartingOne } from '../../../support/upgrade-cases.ts';

const week = 7 * 86_400_000;
const queued = aQueuedOne();
const { id: rolloutId } = aRollout();
const unasked = async (): Promise<never> => {
  throw new Error('nobody asks this here');
};
const nothing = Object.fromEntries(Object.keys(aFleetService()).map((name) => [name, unasked]));

/** One upgrade of one rollout. */
async function aJob(
  upgrade: Upgrade,
  fleet: Partial<FleetService>,
  {
    rollout = aRollout(),
    trustedSince = 0,
    observations = makeObservations(),
    beginIntent = () => async () => true,
    isClockRight = () => true,
    account = { kind: 'own' },
  }: {
    readonly rollout?: Rollout;
    readonly trustedSince?: EpochMs;
    readonly observations?: Observations;
    readonly beginIntent?: () => () => Promise<boolean>;
    readonly isClockRight?: () => boolean;
    readonly account?: AccountStatus;
  } = {},
) {
  const house = await aHouse({ rollout, upgrades: [upgrade], fleet: { ...nothing, ...fleet } });
  const parts = {
    ...house.parts,
    observations,
    isClockRight,
    accounts: { statusOf: async () => account },
    policies: () => ['production', 'other'],
    trustedSince: () => trustedSince,
    beginIntent,
  };
  const run = () => runStep(parts, { rolloutId, collectorId: 1 }, new AbortController().signal);
  /** Comes back whenever it wants to, for a week at most. */
  const runOn = async () => {
    const { clock } = house;
    while (clock.at < t + week) {
      const outcome = await run();
      if (outcome.job === 'end') return;
      clock.at = Math.max(clock.at + 1, outcome.at);
    }
  };
  const lead = () => {
    const leading = { requestsPerSecond: 4, backgroundTasks: { run: unasked }, gates: { ask: unasked } };
    return reconcile({ ...parts, ...leading }, rolloutId, 1, 1_000);
  };
  return { ...house, run, runOn, lead };
}

/** A promise that is fulfilled from outside. */
function aLatch() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** A poll that is never answered, and is noted. */
function unansweredPolls() {
  const polls: Array<Parameters<FleetService['pollCollector']>[0]> = [];
  const pollCollector: FleetService['pollCollector'] = async (of) => {
    polls.push(of);
    return { ok: false, failure: away };
  };
  return { polls, pollCollector };
}

describe('a daemon whose account is not that of the rollout (P5)', () => {
  it.each<[string, AccountStatus]>([
    ['is not known', { kind: 'unknown', reason: '' }],
    ['is another', { kind: 'another', compared: 3, matched: 0, renamed: 0 }],
  ])('leaves the step alone and is not asked each second, while it %s', async (_what, account) => {
    const job = await aJob(queued, {}, { account });
    const outcome = await job.run();
    expect(outcome).toMatchObject({ job: 'comeBack' });
    expect(outcome.job === 'comeBack' && outcome.at - job.clock.at).toBeGreaterThanOrEqual(5_000);
    expect(await job.upgrade()).toEqual(queued);
  });
});

describe('an aborted rollout (P9)', () => {
  const rollout = aRollout({ state: 'aborted' });
  const refused: ServiceFailure = { kind: 'refused', code: 'no', status: 400, detail: '' };

  it.each([
    ['a create in doubt', refused, aStartingOne()],
    ['an adopted one', refused, anUpgradingOne({ taskId: null, dueAt: t })],
    ['its task', refused, anUpgradingOne({ dueAt: t })],
    ['a create without an answer', away, aStartingOne()],
    ['a task without an answer', away, anUpgradingOne({ dueAt: t })],
  ])('ends, although polls of %s always fail', async (_what, failure, upgrade) => {
    const polls = { pollCollector: failing(failure), pollTask: failing(failure) };
    const job = await aJob(upgrade, { ...polls, listBuilds: offering() }, { rollout });
    await job.runOn();
    await job.lead();
    expect(await job.store.activeRolloutIds(['production'])).toEqual([]);
  });

  it('does not end an upgrade while the service is down (P13)', async () => {
    const down = failing(away);
    const fleet = { pollCollector: down, pollTask: down, listBuilds: down };
    const job = await aJob(anUpgradingOne({ dueAt: t }), fleet, { rollout });
    await job.runOn();
    expect(await job.stateOf(1)).toBe('upgrading');
  });
});

describe('a create whose place in the API budget comes when its poll is a minute old', () => {
  const now = t + 61_000;
  const shown = async (row: Parameters<typeof aCollector>[0], upgrade = queued) => {
    const { polls, pollCollector } = unansweredPolls();
    const creates: number[] = [];
    const reserveCreate = reserving(async ({ collectorId }) => {
      creates.push(collectorId);
      return { ok: true, value: { taskId: '7' } };
    });
    const observations = makeObservations();
    const job = await aJob(upgrade, { pollCollector, reserveCreate }, { observations });
    job.clock.at = now;
    const lastSeenAlive = now - 5_000;
    const collectors = [aCollector({ id: 1, build: oldBuild, lastSeenAlive, ...row })];
    observations.note({ collectors, serviceAt: now - 1_000 }, now - 1_000);
    await job.run();
    return { creates, polls: polls.length };
  };

  it('is sent without another poll when an inventory page has shown its collector since', async () => {
    expect(await shown({})).toEqual({ creates: [1], polls: 0 });
  });

  it('keeps its place when an inventory page arrived while it waited for that', async () => {
    let places = 0;
    const observations = makeObservations();
    const reserveCreate = reserving(
      async () => ({ ok: true, value: { taskId: '7' } }),
      () => {
        places += 1;
        job.clock.at = now;
        const collectors = [aCollector({ id: 1, build: oldBuild, lastSeenAlive: now - 5_000 })];
        observations.note({ collectors, serviceAt: now - 1_000 }, now - 1_000);
      },
    );
    const job = await aJob(queued, { reserveCreate }, { observations });
    await job.run();
    expect([places, await job.stateOf(1)]).toEqual([1, 'upgrading']);
  });

  it('is sent once when its job runs twice, and the later run finds the intent of the other (P1)', async () => {
    const sent: number[] = [];
    const observations = makeObservations();
    const created = aLatch();
    const intended = aLatch();
    let places = 0;
    const reserveCreate: FleetService['reserveCreate'] = async ({ collectorId }) => {
      places += 1;
      job.clock.at = now;
      const collectors = [aCollector({ id: 1, build: oldBuild, lastSeenAlive: now - 5_000 })];
      observations.note({ collectors, serviceAt: now - 1_000 }, now - 1_000);
      // The second run waits for its place until the first one has stored its intent.
      if (places === 2) await intended.opened;
      return {
        ok: true,
        value: {
          giveUp: () => undefined,
          send: async () => {
            sent.push(collectorId);
            intended.open();
            if (sent.length === 1) await created.opened;
            return { ok: true, value: { taskId: '7' } };
          },
        },
      };
    };
    const { pollCollector } = unansweredPolls();
    const job = await aJob(queued, { reserveCreate, pollCollector }, { observations });
    const first = job.run();
    const second = job.run();
    await intended.opened;
    await second;
    created.open();
    await first;
    expect(sent).toEqual([1]);
    expect(await job.stateOf(1)).toBe('upgrading');
  });

  it.each<[string, Parameters<typeof aCollector>[0], Upgrade]>([
    ['not alive', { alive: false }, queued],
    ['on the build', { build: targetBuild }, queued],
    ['whose earlier create was not sent', {}, aQueuedOne({ freshAt: 0 })],
    ['that has an earlier create in doubt', {}, { ...queued, tally: { ...queued.tally, createsInDoubt: 1 } }],
    ['whose create was refused', {}, aQueuedOne({ refused: { of: 'collector', detail: '' } })],
  ])('polls a collector %s (P1)', async (_what, row, upgrade) => {
    expect(await shown(row, upgrade)).toEqual({ creates: [], polls: 1 });
  });
});

describe('a record from before Redis was unreachable', () => {
  it('gets no create where Redis may lack its intent, and is queued again (P1)', async () => {
    const sent: string[] = [];
    const send = async () => {
      sent.push('create');
      return { ok: true, value: { taskId: '7' } } as const;
    };
    const beginIntent = () => async () => {
      sent.push((await job.stateOf(1)) ?? '');
      return false;
    };
    const { polls, pollCollector } = unansweredPolls();
    const job = await aJob(queued, { reserveCreate: reserving(send), pollCollector }, { beginIntent });
    await job.run();
    // The other write comes when the intent is stored.
    expect([sent, await job.stateOf(1), polls.length]).toEqual([['starting'], 'queued', 1]);
  });

  it('is polled before its create, however fresh it is, with a list that was read since then (P1)', async () => {
    const { polls, pollCollector } = unansweredPolls();
    const trustedSince = t + 100;
    const { parts, clock, run } = await aJob(queued, { pollCollector }, { trustedSince });
    clock.at = trustedSince;
    await run();
    // A list is an answer only when a create that Redis has forgotten had arrived by then, or never will.
    const listedSince = trustedSince + parts.answerWithinMs;
    expect(polls).toEqual([{ collectorId: 1, upgradableTo: targetBuild, urgent: true, listedSince }]);
  });

  it.each([
    [
      'holds the rollout and waits for the build when that is withdrawn',
      '19.999-9',
      'held',
      'pending',
      'buildNotOffered',
    ],
    ['is deferred when the build is on offer', targetBuild, 'running', 'deferred', 'notUpgradable'],
  ])(
    '%s, if the service refuses the list of the build (P6)',
    async (_does, offered, state, becomes, kind) => {
      const refused = { build: oldBuild, upgradable: false, isBuildRefused: true } as const;
      const fleet = { pollCollector: answering(aSighting(refused)), listBuilds: offering(offered) };
      const job = await aJob(queued, fleet, { trustedSince: t + 1 });
      job.clock.at = t + 1;
      await job.run();
      expect((await job.now()).state).toBe(state);
      expect(await job.upgrade()).toMatchObject({ progress: { state: becomes, reason: { kind } } });
    },
  );
});

describe('a create that waits for its place in the API budget', () => {
  type Meanwhile = (house: Awaited<ReturnType<typeof aHouse>>) => unknown;

  /** A budget whose place comes after `meanwhile`. */
  async function aWaitingCreate(meanwhile: Meanwhile) {
    const sent: number[] = [];
    const { polls, pollCollector } = unansweredPolls();
    const reserveCreate = reserving(
      async () => {
        sent.push(job.clock.at);
        return { ok: true, value: { taskId: '7' } };
      },
      () => meanwhile(job),
    );
    const job = await aJob(queued, { reserveCreate, pollCollector });
    await job.run();
    return { job, sent, polls };
  }
  const laterBy = (waitMs: number): Meanwhile => {
    return ({ clock }) => {
      clock.at += waitMs;
    };
  };

  it('is sent when its place comes soon', async () => {
    const { sent, polls } = await aWaitingCreate(laterBy(59_000));
    expect({ sent, polls }).toEqual({ sent: [t + 59_000], polls: [] });
  });

  it('is not sent when its poll is too old by then, and its collector is polled again (P1)', async () => {
    const { job, sent, polls } = await aWaitingCreate(laterBy(600_000));
    expect(sent).toEqual([]);
    expect(polls).toHaveLength(1);
    expect(await job.stateOf(1)).toBe('queued');
  });

  it('is not sent when the clock was set back (P1)', async () => {
    expect((await aWaitingCreate(laterBy(-600_000))).sent).toEqual([]);
  });

  it.each(['before', 'after'])(
    'is not sent when the clock of the host jumps %s its place is given, and keeps its turn (P1, P7)',
    async (when) => {
      const { pollCollector } = unansweredPolls();
      const sent: number[] = [];
      let places = 0;
      let isClockRight = when === 'after';
      const reserveCreate = reserving(
        async () => {
          sent.push(1);
          return { ok: true, value: { taskId: '7' } };
        },
        () => {
          places += 1;
          isClockRight = false;
        },
      );
      const parts = { isClockRight: () => isClockRight };
      const job = await aJob(queued, { reserveCreate, pollCollector }, parts);
      expect(await job.run()).toEqual({ job: 'comeBack', at: t + 2_000 });
      expect({ sent, places }).toEqual({ sent: [], places: when === 'after' ? 1 : 0 });
      expect(await job.upgrade()).toMatchObject({ progress: { state: 'queued' } });
    },
  );

  it('is not sent when another rollout has begun to upgrade the collector (P1)', async () => {
    const other = aRollout({ id: 'other-20260302-1', policy: aPolicy({ name: 'other' }) });
    const { job, sent } = await aWaitingCreate(({ store }) =>
      freeze(store, other, [anUpgradingOne({}, { rolloutId: other.id })]),
    );
    expect(sent).toEqual([]);
    const reason = { kind: 'claimed', rollout: other.id };
    const deferred = { state: 'deferred', condition: 'inUpgrade', reason };
    expect(await job.upgrade()).toMatchObject({ progress: deferred });
  });

  it('is reported when it could not be sent within its second, and waits for its turn again (P4)', async () => {
    const { pollCollector } = unansweredPolls();
    const reserveCreate = reserving(failing({ kind: 'cancelled', sent: false }));
    const job = await aJob(queued, { reserveCreate, pollCollector });
    await job.run();
    expect(job.notes).toMatchObject([{ event: 'daemon.starved' }]);
    expect(await job.upgrade()).toMatchObject({ progress: { state: 'queued' }, tally: { attempts: 0 } });
  });

  it('gives up its place when its intent cannot be stored', async () => {
    const giveUp = vi.fn();
    const job = await aJob(queued, { reserveCreate: answering({ send: unasked, giveUp }) });
    vi.spyOn(job.store, 'saveIntent').mockRejectedValue(new Error('Redis is away'));
    await expect(job.run()).rejects.toThrow('Redis is away');
    expect(giveUp).toHaveBeenCalledTimes(1);
  });

  it('asks the store once for all other policies, while it holds a place in the rate, and for one hold', async () => {
    const others = range(50).map((index) => `other${index}`);
    let before: ReadonlyMap<string, number> = new Map();
    let atSend: typeof before = new Map();
    const reserveCreate = reserving(
      async () => {
        atSend = new Map(counted.calls);
        return { ok: true, value: { taskId: '7' } };
      },
      () => {
        before = new Map(counted.calls);
      },
    );
    const { parts, store, stateOf } = await aHouse({
      upgrades: [queued],
      fleet: { ...nothing, reserveCreate },
    });
    for (const name of others)
      await freeze(store, aRollout({ id: `${name}-20260302-1`, policy: aPolicy({ name }) }));
    const counted = countingStore(store);
    const register = countingStore(parts.register);
    const claims = { ...quietParts.claims, names: async () => ['production', ...others] };
    const own = { store: counted.store, register: register.store, claims };
    await runStep({ ...parts, ...own }, { rolloutId, collectorId: 1 }, new AbortController().signal);
    expect(await stateOf(1)).toBe('upgrading');
    const inPlace = [...atSend].map(([name, calls]) => [name, calls - (before.get(name) ?? 0)] as const);
    expect(inPlace.filter(([, calls]) => calls > 0)).toEqual([
      ['findUpgradesOf', 1],
      ['saveIntent', 1],
    ]);
    expect(Object.fromEntries(register.calls)).toEqual({ holdsOf: 1 });
  });
});

describe('a collector whose inventory row was read a moment before it was admitted', () => {
  it.each([
    ['upgraded without a poll', t, 'create'],
    ['polled where Redis may have lost a create since its plan (P1)', t + 1, 'poll'],
  ])('is %s', async (_what, trustedSince, first) => {
    const calls: string[] = [];
    const unanswered = (call: string) => async () => {
      calls.push(call);
      return { ok: false, failure: away } as const;
    };
    const pending = anUpgrade({ state: 'pending' }, { eligibleAt: t, offeredAt: t - 10_000 });
    const observations = makeObservations();
    observations.note({ collectors: [aCollector()], serviceAt: t }, t + 2);
    const fleet = { pollCollector: unanswered('poll'), reserveCreate: unanswered('create') };
    const rollout = aRollout({ waves: [aWave({ state: 'open', size: 1 })] });
    const job = await aJob(pending, fleet, { rollout, trustedSince, observations });
    job.clock.at = t + 2;
    await job.lead();
    await job.run();
    job.clock.at = t + 30_000;
    await job.run();
    expect(calls[0]).toBe(first);
  });
});

describe('a step that has stored a fact', () => {
  it('returns when the next step is due, and reads its record once', async () => {
    const pollTask = answering({ status: 6, message: '', serviceAt: t });
    const job = await aJob(anUpgradingOne({ dueAt: t }), { pollTask });
    const reads = vi.spyOn(job.store, 'loadUpgrades');
    const outcome = await job.run();
    expect(reads).toHaveBeenCalledTimes(1);
    const dueAt = expect.toSatisfy((at: number) => at > t);
    expect((await job.upgrade()).progress).toMatchObject({ state: 'upgrading', dueAt });
    expect(outcome).toEqual({ job: 'comeBack', at: Reflect.get((await job.upgrade()).progress, 'dueAt') });
  });
});

describe('a create that is refused because someone upgraded the collector by hand', () => {
  const refused = { kind: 'refused', code: 'collector.version.invalid', detail: 'no' } as const;
  const reserveCreate = reserving(failing(refused));
  const showing = (build: string) => answering(aSighting({ build }));

  it('is withdrawn, and the builds on offer are not requested', async () => {
    const job = await aJob(queued, { reserveCreate, pollCollector: showing(targetBuild) });
    expect(await job.run()).toEqual({ job: 'end' });
    expect(await job.upgrade()).toMatchObject({
      progress: { state: 'withdrawn', reason: { kind: 'onBuild' } },
    });
  });

  it('is resolved by the next run when the daemon is killed between the refusal and the observation', async () => {
    const create = vi.fn(reserveCreate);
    const pollCollector = vi.fn<FleetService['pollCollector']>(showing(targetBuild));
    pollCollector.mockRejectedValueOnce(new Error('killed'));
    const job = await aJob(queued, { reserveCreate: create, pollCollector });
    await expect(job.run()).rejects.toThrow('killed');
    expect(await job.upgrade()).toMatchObject({ progress: { state: 'queued', refused: { of: 'version' } } });
    // However long after: the record says what has to be settled, not how fresh it is.
    job.clock.at += week;
    await job.run();
    expect(await job.upgrade()).toMatchObject({ progress: { state: 'withdrawn' }, tally: { attempts: 0 } });
    expect(create).toHaveBeenCalledTimes(1);
  });

  it('holds the rollout before it gives its slot back when the build is no longer on offer (P6)', async () => {
    const fleet = { reserveCreate, pollCollector: showing(oldBuild), listBuilds: offering('19.999-9') };
    const job = await aJob(queued, fleet);
    const saves: string[] = [];
    const { saveRollout, saveUpgrades } = job.store;
    vi.spyOn(job.store, 'saveRollout').mockImplementation((...call) => {
      saves.push(call[0].rollout.state);
      return saveRollout(...call);
    });
    vi.spyOn(job.store, 'saveUpgrades').mockImplementation((...call) => {
      saves.push(...call[1].map(({ after }) => after.progress.state));
      return saveUpgrades(...call);
    });
    await job.run();
    expect(saves.slice(-2)).toEqual(['held', 'pending']);
    expect(await job.parts.register.readAudit(5)).toMatchObject([{ event: 'rollout.held', by: 'daemon' }]);
  });

  it('fails the collector for good when it runs another build, and the target is on offer', async () => {
    const fleet = { reserveCreate, pollCollector: showing(oldBuild), listBuilds: offering(targetBuild) };
    const job = await aJob(queued, fleet);
    await job.run();
    expect(await job.upgrade()).toMatchObject({ progress: { state: 'failed', failureClass: 'permanent' } });
  });
});
