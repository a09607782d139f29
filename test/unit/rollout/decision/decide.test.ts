import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasBegun } from '../../../../src/rollout/decision/assess.ts';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import type { Action } from '../../../../src/rollout/decision/decision.ts';
import { evolveRollout, type RolloutFact } from '../../../../src/rollout/decision/evolve-rollout.ts';
import { blockerWords } from '../../../../src/rollout/messages/blockers.ts';
import {
  type Rollout,
  type RolloutView,
  rolloutStates,
  type WaveState,
} from '../../../../src/rollout/model/rollout.ts';
import {
  holdsSlot,
  isEnd,
  isFailed,
  isRunning,
  type UpgradeState,
  upgradeStates,
} from '../../../../src/rollout/model/upgrade.ts';
import {
  aPolicy,
  aRollout,
  aStratumSummary,
  aSummary,
  aView,
  aWave,
  aWaveRule,
  because,
  someGroups,
  startedAt,
} from '../../../support/builders.ts';

const now = startedAt + 3_600_000;

function twoWaves(changes: Partial<RolloutView> = {}, rollout: Partial<Rollout> = {}): RolloutView {
  const waves = [
    aWaveRule({ name: 'canary', soakMs: 1_800_000, maxFailures: { kind: 'count', count: 1 } }),
    aWaveRule({ maxFailures: { kind: 'percent', percent: 5 } }),
  ];
  return aView({
    rollout: aRollout({
      policy: aPolicy({ concurrency: 4, waves }),
      waves: [
        aWave({ name: 'canary', size: 5 }),
        aWave({ name: 'rest', size: 20, state: 'waiting', openedAt: null }),
      ],
      ...rollout,
    }),
    waves: [aSummary({ succeeded: 5 }), aSummary({ pending: 20 })],
    ...changes,
  });
}

const ones = (...ids: readonly number[]) => ids.map((collectorId) => ({ collectorId, order: collectorId }));

describe('slots (P2)', () => {
  const open = {
    candidates: [{ lane: 0, retries: [], pending: ones(1, 2, 3, 4, 5) }],
    waves: [aSummary({ pending: 5 }), aSummary({ pending: 20 })],
  };

  it('says so when all are taken', () => {
    const decision = decide(twoWaves({ ...open, slotsTaken: 4 }), now);
    expect(decision.actions).toEqual([]);
    expect(decision.blockers).toEqual([{ kind: 'concurrency', slots: 4, until: null }]);
  });
});

describe('order (P3)', () => {
  it('soaks a settled wave from its last change', () => {
    const { actions } = decide(twoWaves(), now);
    expect(actions).toEqual([{ do: 'beginSoak', wave: 0, endsAt: startedAt + 1_800_000 }]);
  });

  it('opens the next wave when the one before has passed', () => {
    const passed = { waves: [aWave({ size: 5, state: 'passed' }), aWave({ size: 20, state: 'waiting' })] };
    expect(decide(twoWaves({}, passed), now).actions).toContainEqual({ do: 'openWave', wave: 1 });
  });
});

describe('the breaker', () => {
  it('lifts a brake that nothing justifies', () => {
    expect(decide(twoWaves({ braked: true }), now).actions[0]).toEqual({ do: 'liftBrake' });
  });
});

describe('inconclusive is a hold (P14)', () => {
  it('holds a wave that brought no evidence, and says what to do', () => {
    const waves = [aSummary({ failed: 1, withdrawn: 4 }, { weight: 1 }), aSummary({ pending: 20 })];
    expect(decide(twoWaves({ waves }), now).actions).toEqual([
      {
        do: 'hold',
        heldFor: { kind: 'evidence', wave: 0 },
        cause: {
          kind: 'noEvidence',
          wave: 'canary',
          ended: [
            { state: 'failed', upgrades: 1 },
            { state: 'withdrawn', upgrades: 4 },
          ],
        },
      },
    ]);
  });

  it('passes a wave without members', () => {
    const waves = { waves: [aWave({ size: 0 }), aWave({ size: 20, state: 'waiting' })] };
    expect(decide(twoWaves({ waves: [aSummary(), aSummary({ pending: 20 })] }, waves), now).actions).toEqual([
      { do: 'passWave', wave: 0 },
    ]);
  });
});

describe('a rollout that does not run', () => {
  it.each(['held', 'paused', 'awaitingApproval'] as const)(
    'starts nothing while %s, and delivers what is overdue',
    (state) => {
      const view = twoWaves(
        { overdue: [3], candidates: [{ lane: 0, retries: ones(8), pending: ones(1) }] },
        { state, reason: because('why') },
      );
      const decision = decide(view, now);
      expect(decision.actions).toEqual([{ do: 'deliver', collectorIds: [3] }]);
      const kind = state === 'awaitingApproval' ? 'planApproval' : state;
      expect(decision.blockers).toMatchObject([{ kind, until: null }]);
    },
  );

  it('withdraws the very last one, too', () => {
    const last = twoWaves(
      { waves: [aSummary({ succeeded: 5 }), aSummary({ pending: 1 })] },
      { state: 'superseded' },
    );
    expect(decide(last, now).actions).toEqual([
      { do: 'withdrawWaiting', reason: { kind: 'rolloutOver', state: 'superseded' } },
    ]);
  });

  it('withdraws what waits after an abort, watches what runs, and closes', () => {
    const aborted = { state: 'aborted' as const };
    const waits = twoWaves(
      { waves: [aSummary({ upgrading: 1, succeeded: 4 }), aSummary({ pending: 20 })] },
      aborted,
    );
    expect(decide(waits, now).actions).toEqual([
      { do: 'withdrawWaiting', reason: { kind: 'rolloutOver', state: 'aborted' } },
    ]);
    const watches = twoWaves(
      { waves: [aSummary({ upgrading: 1, succeeded: 4 }), aSummary({ withdrawn: 20 })] },
      aborted,
    );
    expect(decide(watches, now).actions).toEqual([]);
    const both = twoWaves(
      { waves: [aSummary({ upgrading: 1, pending: 4 }), aSummary({ pending: 20 })] },
      aborted,
    );
    expect(decide(both, startedAt).blockers).toEqual([
      { kind: 'withdrawing', upgrades: 24, until: null },
      { kind: 'watching', upgrades: 1, until: null },
    ]);
    const over = twoWaves({ waves: [aSummary({ succeeded: 5 }), aSummary({ withdrawn: 20 })] }, aborted);
    expect(decide(over, now).actions).toEqual([{ do: 'close' }]);
  });
});

describe('the end', () => {
  const passed = { waves: [aWave({ size: 5, state: 'passed' }), aWave({ size: 20, state: 'passed' })] };

  it('is finishedWithFailures when something did', () => {
    const waves = [aSummary({ succeeded: 5 }), aSummary({ succeeded: 19, failed: 1 }, { weight: 1 })];
    expect(decide(twoWaves({ waves }, passed), now).actions).toEqual([
      { do: 'finish', state: 'finishedWithFailures' },
    ]);
  });
});

/** A little fleet, from which all that `decide` sees is counted. */
interface Member {
  readonly wave: number;
  readonly stratum: number;
  readonly state: UpgradeState;
  readonly isDue: boolean;
}

interface World {
  readonly members: readonly Member[];
  readonly rollout: Rollout;
  readonly braked: boolean;
}

function viewOf({ members, rollout, braked }: World): RolloutView {
  const of = (states: (state: UpgradeState) => boolean, some: readonly Member[] = members) =>
    some.filter(({ state }) => states(state)).length;
  const waves = rollout.waves.map((_, wave) => {
    const own = members.filter((member) => member.wave === wave);
    const counts = Object.fromEntries(
      upgradeStates.map((state) => [state, of((other) => other === state, own)]),
    );
    return aSummary(counts, { weight: of(isFailed, own) });
  });
  const strata = [0, 1, 2].flatMap((stratum) =>
    rollout.waves.map((_, wave) => {
      const own = members.filter((member) => member.wave === wave && member.stratum === stratum);
      const failed = of(isFailed, own);
      return aStratumSummary({
        stratum,
        wave,
        waiting: of((state) => state === 'pending' || state === 'retrying', own),
        active: of((state) => isRunning(state), own),
        succeeded: of((state) => state === 'succeeded', own),
        failed,
        weight: failed,
      });
    }),
  );
  const candidates = [0, 1, 2].map((lane) => {
    const waits = members.flatMap((member, index) =>
      member.stratum === lane && member.wave < rollout.waves.filter(hasBegun).length
        ? [{ collectorId: index, order: index, state: member.state, isDue: member.isDue }]
        : [],
    );
    return {
      lane,
      retries: waits.filter(({ state, isDue }) => state === 'retrying' && isDue),
      pending: waits.filter(({ state }) => state === 'pending'),
    };
  });
  const waitsForRetry = members.some(({ state, isDue }) => state === 'retrying' && !isDue);
  return aView({
    rollout,
    waves,
    groups: someGroups({
      strata: [0, 1, 2].map((index) => ({ label: `s${index}`, sizes: rollout.waves.map(() => 2) })),
      lanes: [0, 1, 2].map((stratum) => ({ stratum, timeZone: '', domains: [] })),
    }),
    strata,
    slotsTaken: of(holdsSlot),
    candidates,
    nextRetryAt: waitsForRetry ? now + 60_000 : null,
    braked,
    rollback: null,
  });
}

/** What the executors would make of these actions, but for those that ask the outside. */
function carryOut(world: World, view: RolloutView, actions: readonly Action[]): World | undefined {
  for (const action of actions) {
    const fact = factOf(action, view);
    if (fact !== undefined) {
      const braked = action.do === 'setBrake' || (action.do !== 'liftBrake' && world.braked);
      return { ...world, braked, rollout: evolveRollout(world.rollout, fact) };
    }
    if (action.do === 'admit' && action.picks.length > 0) {
      const picked = new Set(action.picks.map(({ collectorId }) => collectorId));
      const members = world.members.map((member, index) =>
        picked.has(index) ? { ...member, state: 'upgrading' as const } : member,
      );
      return { ...world, members };
    }
    if (action.do === 'withdrawWaiting') {
      const waits = new Set<UpgradeState>(['pending', 'retrying', 'deferred']);
      const members = world.members.map((member) =>
        waits.has(member.state) ? { ...member, state: 'withdrawn' as const } : member,
      );
      return { ...world, members };
    }
  }
  return undefined;
}

function factOf(action: Action, view: RolloutView): RolloutFact | undefined {
  const at = now;
  switch (action.do) {
    case 'awaitApproval':
      return { kind: 'waveAwaitsApproval', at, wave: action.wave };
    case 'openWave':
      return { kind: 'waveOpened', at, wave: action.wave };
    case 'beginSoak':
      return { kind: 'soakBegun', at, wave: action.wave, endsAt: action.endsAt };
    case 'passWave':
      return { kind: 'wavePassed', at, wave: action.wave };
    case 'hold': {
      const { cause, heldFor } = action;
      return { kind: 'held', at, reason: cause, ...(heldFor === undefined ? {} : { heldFor }) };
    }
    case 'endHold':
      return { kind: 'holdEnded', at, reason: action.reason };
    case 'breach':
      return { kind: 'held', at, reason: action.cause };
    case 'isolate':
      return {
        kind: 'strataHeld',
        at,
        strata: action.strata.map((each) => ({ ...each, reason: because(''), by: 'daemon', at })),
      };
    case 'lowerAcknowledged':
      return { kind: 'acknowledgedLowered', at, view };
    case 'setBrake':
      return { kind: 'brakeSet', at };
    case 'liftBrake':
      return { kind: 'brakeLifted', at };
    case 'finish':
      return { kind: 'finished', at, state: action.state };
    case 'close':
      return { kind: 'closed', at };
    default:
      return undefined;
  }
}

const waveStates: readonly WaveState[] = ['waiting', 'awaitingApproval', 'open', 'soaking'];

const worlds: fc.Arbitrary<World> = fc
  .record({
    state: fc.oneof(
      { weight: 4, arbitrary: fc.constant('running' as const) },
      fc.constantFrom(...rolloutStates),
    ),
    members: fc.array(
      fc.record({
        wave: fc.integer({ min: 0, max: 2 }),
        stratum: fc.integer({ min: 0, max: 2 }),
        state: fc.oneof(
          { weight: 3, arbitrary: fc.constantFrom<UpgradeState>('pending', 'succeeded') },
          fc.constantFrom(...upgradeStates),
        ),
        isDue: fc.boolean(),
      }),
      { maxLength: 12 },
    ),
    passed: fc.integer({ min: 0, max: 3 }),
    current: fc.constantFrom(...waveStates),
    soakMs: fc.constantFrom(0, 7_200_000),
    approval: fc.boolean(),
    allowed: fc.integer({ min: 0, max: 4 }),
    acknowledgedWeight: fc.integer({ min: 0, max: 3 }),
    heldStrata: fc.uniqueArray(fc.integer({ min: 0, max: 2 }), { maxLength: 2 }),
    endsWithoutHeld: fc.boolean(),
    concurrency: fc.integer({ min: 1, max: 4 }),
    braked: fc.boolean(),
  })
  .map((given) => {
    const stateOf = (wave: number): WaveState =>
      wave < given.passed ? 'passed' : wave === given.passed ? given.current : 'waiting';
    const rules = ['canary', 'early', 'rest'].map((name) =>
      aWaveRule({
        name,
        soakMs: given.soakMs,
        approval: given.approval,
        maxFailures: { kind: 'count', count: given.allowed },
      }),
    );
    const begun = (wave: number) =>
      wave < given.passed || (wave === given.passed && hasBegun({ ...aWave(), state: given.current }));
    const rollout = aRollout({
      state: given.state,
      policy: aPolicy({ concurrency: given.concurrency, waves: rules }),
      waves: rules.map(({ name }, wave) =>
        aWave({
          name,
          size: given.members.filter((member) => member.wave === wave).length,
          state: stateOf(wave),
          soakEndsAt: stateOf(wave) === 'soaking' ? startedAt + given.soakMs : null,
          acknowledgedWeight: begun(wave) ? given.acknowledgedWeight : 0,
        }),
      ),
      heldStrata: given.heldStrata.map((stratum) => ({
        stratum,
        label: `s${stratum}`,
        reason: because('why'),
        by: 'daemon',
        at: startedAt,
      })),
      endsWithoutHeld: given.endsWithoutHeld,
    });
    // Nobody of a wave that has not begun can be anywhere but at its beginning, or withdrawn.
    const members = given.members.map((member) =>
      begun(member.wave) || member.state === 'withdrawn' ? member : { ...member, state: 'pending' as const },
    );
    return { members, rollout, braked: given.braked };
  });

describe('decisions in general', () => {
  /** Steps of its own, or someone who is not here, will bring the next change. */
  const isOnItsWay = ({ members }: World) =>
    members.some(({ state }) => state !== 'pending' && state !== 'retrying' && !isEnd(state));

  it('come to rest, and nothing stalls without a word, an instant or someone on the way', () => {
    const rests = new Set<string>();
    fc.assert(
      fc.property(worlds, (given) => {
        let world = given;
        for (let pass = 0; pass < 60; pass += 1) {
          const view = viewOf(world);
          const decision = decide(view, now);
          const next = carryOut(world, view, decision.actions);
          if (next !== undefined) {
            world = next;
            continue;
          }
          rests.add(world.rollout.state);
          if (world.rollout.endedAt !== null) return;
          const asks = decision.actions.length > 0;
          const says = decision.blockers.some((blocker) => blockerWords(blocker).trim() !== '');
          expect(asks || says || decision.wakeAt !== null || isOnItsWay(world)).toBe(true);
          if (decision.wakeAt !== null) expect(decision.wakeAt).toBeGreaterThan(now);
          return;
        }
        expect.unreachable('it did not come to rest');
      }),
      { numRuns: 600 },
    );
    expect([...rests]).toEqual(
      expect.arrayContaining(['running', 'held', 'succeeded', 'finishedWithFailures']),
    );
  });

  it('start nobody unless the rollout runs, open no wave before all before it have passed, and do nothing beside a stop (P3, P4)', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const view = viewOf(world);
        const { waves, state } = world.rollout;
        const { actions } = decide(view, now);
        if (actions.some(({ do: kind }) => ['hold', 'breach', 'isolate', 'endHold'].includes(kind)))
          expect(actions).toHaveLength(1);
        for (const action of actions) {
          if (action.do === 'admit') {
            expect(state).toBe('running');
            for (const { collectorId } of action.picks) {
              const member = world.members[collectorId];
              expect(hasBegun(waves[member?.wave ?? -1] ?? aWave({ state: 'waiting' }))).toBe(true);
              expect(world.rollout.heldStrata.some(({ stratum }) => stratum === member?.stratum)).toBe(false);
            }
          }
          if (action.do === 'openWave')
            expect(waves.slice(0, action.wave).every((wave) => wave.state === 'passed')).toBe(true);
          if (action.do === 'passWave') {
            const held = new Set(world.rollout.heldStrata.map(({ stratum }) => stratum));
            const unsettled = world.members.filter(
              (member) =>
                member.wave === action.wave &&
                !isEnd(member.state) &&
                member.state !== 'deferred' &&
                !(held.has(member.stratum) && (member.state === 'pending' || member.state === 'retrying')),
            );
            expect(unsettled).toEqual([]);
          }
          if (action.do === 'finish') expect(world.members.every((member) => isEnd(member.state))).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
