import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasBegun } from '../../../../src/rollout/decision/assess.ts';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import type { Action } from '../../../../src/rollout/decision/decision.ts';
import { blockerWords } from '../../../../src/rollout/messages/blockers.ts';
import {
  type Rollout,
  type RolloutView,
  rolloutStates,
  type WaveState,
} from '../../../../src/rollout/model/rollout.ts';
import {
  isEnd,
  isFailed,
  isWaiting,
  type UpgradeProgress,
  type UpgradeState,
  upgradeStates,
} from '../../../../src/rollout/model/upgrade.ts';
import { anUpgrade, aWave, because, startedAt } from '../../../support/builders.ts';
import {
  afterAction,
  aHeldStratum,
  alikeStrata,
  aViewOf,
  aViewOfUpgrades,
  type Counts,
  type ViewCase,
  type WaveCase,
} from '../../../support/view-cases.ts';

const now = startedAt + 3_600_000;

const canary: WaveCase = {
  name: 'canary',
  counts: { succeeded: 5 },
  rule: { soakMs: 1_800_000, maxFailures: { kind: 'count', count: 1 } },
};
const rest: WaveCase = { counts: { pending: 20 }, wave: { state: 'waiting' } };
const passed = { state: 'passed' } as const;

/** A canary that is upgraded, and the rest behind it. */
const twoWaves = (changes: ViewCase = {}) => aViewOf({ waves: [canary, rest], ...changes });
const actionsOf = (changes: ViewCase = {}) => decide(twoWaves(changes), now).actions;

const ones = (...ids: readonly number[]) => ids.map((collectorId) => ({ collectorId, order: collectorId }));

describe('a running rollout', () => {
  it('says so when all slots are taken (P2)', () => {
    const full = twoWaves({
      waves: [{ ...canary, counts: { pending: 5 } }, rest],
      candidates: [{ lane: 0, retries: [], pending: ones(1, 2, 3, 4, 5) }],
      slotsTaken: 10,
    });
    expect(decide(full, now)).toMatchObject({
      actions: [],
      blockers: [{ kind: 'concurrency', slots: 10, until: null }],
    });
  });

  it('soaks a settled wave from its last change', () => {
    expect(actionsOf()).toEqual([{ do: 'beginSoak', wave: 0, endsAt: startedAt + 1_800_000 }]);
  });

  it('opens the next wave when the one before has passed (P3)', () => {
    const waves = [{ ...canary, wave: passed }, rest];
    expect(actionsOf({ waves })).toContainEqual({ do: 'openWave', wave: 1 });
  });

  it('lifts a brake that nothing justifies', () => {
    expect(actionsOf({ braked: true })[0]).toEqual({ do: 'liftBrake' });
  });

  it('is held by a wave that brought no evidence, and says what to do (P14)', () => {
    const waves = [{ ...canary, counts: { failed: 1, withdrawn: 4 } }, rest];
    expect(actionsOf({ waves })).toEqual([
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
    expect(actionsOf({ waves: [{ ...canary, counts: {} }, rest] })).toEqual([{ do: 'passWave', wave: 0 }]);
  });

  it('finishes with failures when an upgrade failed', () => {
    const waves = [canary, { counts: { succeeded: 19, failed: 1 } }].map((each) => ({
      ...each,
      wave: passed,
    }));
    const rule = { maxFailures: { kind: 'percent', percent: 5 } } as const;
    expect(actionsOf({ waves: waves.map((each) => ({ ...each, rule })) })).toEqual([
      { do: 'finish', state: 'finishedWithFailures' },
    ]);
  });
});

describe('a rollout that does not run', () => {
  it.each(['held', 'paused', 'awaitingApproval'] as const)(
    'starts nothing while %s, and delivers what is overdue',
    (state) => {
      const view = twoWaves({
        overdue: [3],
        candidates: [{ lane: 0, retries: ones(8), pending: ones(1) }],
        rollout: { state, reason: because('why') },
      });
      const decision = decide(view, now);
      expect(decision.actions).toEqual([{ do: 'deliver', collectorIds: [3] }]);
      const kind = state === 'awaitingApproval' ? 'planApproval' : state;
      expect(decision.blockers).toMatchObject([{ kind, until: null }]);
    },
  );

  const withdraw = { do: 'withdrawWaiting', reason: { kind: 'rolloutOver', state: 'aborted' } };
  it.each<[string, Counts, Counts, readonly unknown[]]>([
    ['withdraws what waits', { upgrading: 1, succeeded: 4 }, { pending: 20 }, [withdraw]],
    ['withdraws the very last one, too', { succeeded: 5 }, { pending: 1 }, [withdraw]],
    ['watches what is running', { upgrading: 1, succeeded: 4 }, { withdrawn: 20 }, []],
    ['closes when all has ended', { succeeded: 5 }, { withdrawn: 20 }, [{ do: 'close' }]],
  ])('%s after an abort', (_what, first, second, actions) => {
    const waves = [
      { ...canary, counts: first },
      { ...rest, counts: second },
    ];
    expect(actionsOf({ waves, rollout: { state: 'aborted' } })).toEqual(actions);
  });

  it('shows after an abort how many it withdraws, and how many it watches', () => {
    const waves = [{ ...canary, counts: { upgrading: 1, pending: 4 } }, rest];
    expect(decide(twoWaves({ waves, rollout: { state: 'aborted' } }), startedAt).blockers).toEqual([
      { kind: 'withdrawing', upgrades: 24, until: null },
      { kind: 'watching', upgrades: 1, until: null },
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
  const upgrades = members.map(({ wave, stratum, state, isDue }, index) => {
    // Every figure that a state may have: the counters ask for these alone.
    const dueAt = state === 'retrying' ? now + (isDue ? 0 : 60_000) : undefined;
    const progress = { state, reason: because(''), ...(dueAt !== undefined && { dueAt }) };
    const figures = { collectorId: index, order: index, wave, stratum, lane: stratum };
    return anUpgrade({ ...progress, weight: isFailed(state) ? 1 : 0 } as UpgradeProgress, figures);
  });
  const groups = alikeStrata(
    3,
    rollout.waves.map(() => 2),
  );
  return aViewOfUpgrades(rollout, upgrades, { now, groups, braked });
}

/** What the executors would make of these actions, but for those that ask the outside. */
function carryOut(world: World, view: RolloutView, actions: readonly Action[]): World | undefined {
  for (const action of actions) {
    const after = afterAction(view, action, now);
    if (after !== undefined) return { ...world, braked: after.braked, rollout: after.rollout };
    if (action.do === 'admit' && action.picks.length > 0) {
      const picked = new Set(action.picks.map(({ collectorId }) => collectorId));
      const members = world.members.map((member, index) =>
        picked.has(index) ? { ...member, state: 'upgrading' as const } : member,
      );
      return { ...world, members };
    }
    if (action.do === 'withdrawWaiting') {
      const members = world.members.map((member) =>
        isWaiting(member.state) ? { ...member, state: 'withdrawn' as const } : member,
      );
      return { ...world, members };
    }
  }
  return undefined;
}

const waveStates: readonly WaveState[] = ['waiting', 'awaitingApproval', 'open', 'soaking'];
const stateChoice = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<UpgradeState>('pending', 'succeeded') },
  fc.constantFrom(...upgradeStates),
);
const stratumChoice = fc.integer({ min: 0, max: 2 });
const memberChoice = fc.record({
  wave: fc.integer({ min: 0, max: 2 }),
  stratum: stratumChoice,
  state: stateChoice,
  isDue: fc.boolean(),
});

const worlds: fc.Arbitrary<World> = fc
  .record({
    state: fc.oneof(
      { weight: 4, arbitrary: fc.constant('running' as const) },
      fc.constantFrom(...rolloutStates),
    ),
    members: fc.array(memberChoice, { maxLength: 12 }),
    passed: fc.integer({ min: 0, max: 3 }),
    current: fc.constantFrom(...waveStates),
    soakMs: fc.constantFrom(0, 7_200_000),
    approval: fc.boolean(),
    allowed: fc.integer({ min: 0, max: 4 }),
    acknowledgedWeight: fc.integer({ min: 0, max: 3 }),
    heldStrata: fc.uniqueArray(stratumChoice, { maxLength: 2 }),
    endsWithoutHeld: fc.boolean(),
    concurrency: fc.integer({ min: 1, max: 4 }),
    braked: fc.boolean(),
  })
  .map((given) => {
    const { soakMs, approval, endsWithoutHeld } = given;
    const maxFailures = { kind: 'count', count: given.allowed } as const;
    const stateOf = (wave: number): WaveState =>
      wave < given.passed ? 'passed' : wave === given.passed ? given.current : 'waiting';
    const begun = (wave: number) => hasBegun(aWave({ state: stateOf(wave) }));
    const { rollout } = aViewOf({
      waves: ['canary', 'early', 'rest'].map((name, wave) => ({
        name,
        rule: { soakMs, approval, maxFailures },
        wave: {
          size: given.members.filter((member) => member.wave === wave).length,
          state: stateOf(wave),
          soakEndsAt: stateOf(wave) === 'soaking' ? startedAt + soakMs : null,
          acknowledgedWeight: begun(wave) ? given.acknowledgedWeight : 0,
        },
      })),
      policy: { concurrency: given.concurrency },
      rollout: {
        state: given.state,
        heldStrata: given.heldStrata.map((stratum) => aHeldStratum(stratum)),
        endsWithoutHeld,
      },
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
});
