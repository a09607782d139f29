import { describe, expect, it } from 'vitest';
import { assess, setAsideIn } from '../../../../src/rollout/decision/assess.ts';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { isCanary, raiseAlarm } from '../../../../src/rollout/decision/raise-alarm.ts';
import type { Amount, Isolation, WaveSize } from '../../../../src/rollout/model/policy.ts';
import type { RolloutView, StratumSummary, WaveState } from '../../../../src/rollout/model/rollout.ts';
import {
  aSummary,
  askedFor,
  aView,
  changedRollout,
  type RolloutChanges,
  startedAt,
} from '../../../support/builders.ts';
import {
  afterFact,
  aHeldStratum,
  alikeStrata,
  aViewOf,
  aViewOfStrata,
  resumed,
} from '../../../support/view-cases.ts';

const now = startedAt + 3_600_000;
const strataCount = 10;

/** A stratum in the canary and in the rest. */
type Part = Partial<Pick<StratumSummary, 'failed' | 'succeeded' | 'active' | 'waiting'>>;

interface Given {
  readonly canary: readonly Part[];
  readonly rest?: readonly Part[];
  readonly maxFailures?: Amount;
  readonly size?: WaveSize;
  readonly restState?: WaveState;
  readonly rollout?: RolloutChanges;
  readonly isolate?: Isolation;
}

const alarmOf = (of: RolloutView) => raiseAlarm(assess(of));

/** Ten strata of four; a canary with one of each, and the rest. */
function view({ canary, rest = [], restState, rollout, isolate = 'strata', ...rule }: Given): RolloutView {
  const size = rule.size ?? { kind: 'perStratum', count: 1 };
  const maxFailures = rule.maxFailures ?? { kind: 'count', count: 0 };
  const planned = aViewOf({
    waves: [
      {
        name: 'canary',
        rule: { size, maxFailures },
        wave: { size: 10, state: restState === undefined ? 'open' : 'passed' },
      },
      {
        rule: { maxFailures: { kind: 'count', count: 2 } },
        wave: { size: 30, state: restState ?? 'waiting' },
      },
    ],
    policy: { isolate },
    rollout,
  });
  const strata = [canary, rest].flatMap((parts, wave) =>
    parts.map((part, stratum) => ({ stratum, wave, ...part })),
  );
  return aViewOfStrata(planned.rollout, strata, { groups: alikeStrata(strataCount, [1, 3]) });
}

const all = (part: Part, count = strataCount) => Array.from({ length: count }, () => part);

describe('a breach', () => {
  const oneBad = { canary: [{ failed: 1 }, ...all({ succeeded: 1 }, 9)] };
  const early = view({ canary: [{ failed: 1 }, ...all({ active: 1 }, 9)] });

  it('holds only the stratum that explains the failures', () => {
    expect(alarmOf(view(oneBad))).toEqual({
      kind: 'act',
      action: {
        do: 'isolate',
        strata: [{ stratum: 0, label: 's0', failed: 1, tried: 1, elsewhere: { failed: 0, tried: 9 } }],
      },
    });
    expect(alarmOf(view({ ...oneBad, rollout: { strata: { held: [aHeldStratum(0)] } } }))).toBeUndefined();
  });

  it('holds the rollout where the policy does not isolate strata', () => {
    expect(alarmOf(view({ ...oneBad, isolate: 'off' }))).toMatchObject({ action: { do: 'breach' } });
  });

  it('stops creates and waits while running upgrades may show that only one stratum is bad', () => {
    expect(alarmOf(early)).toMatchObject({ kind: 'wait' });
    const decision = decide({ ...early, overdue: [3] }, now);
    expect(decision.actions).toEqual([{ do: 'setBrake' }, { do: 'deliver', collectorIds: [3] }]);
    expect(decision.blockers).toHaveLength(1);
    expect(decide({ ...early, braked: true }, now).actions).toEqual([]);
  });

  it('reads the inventory again while it waits, because an implausible one may keep upgrades from ending (P14)', () => {
    const why = { kind: 'empty', expected: 10 } as const;
    const implausible = { since: now, readAt: now, why, size: 0, missing: 10 };
    const rollout = changedRollout(early.rollout, { inventory: { implausible } });
    const decision = decide({ ...early, braked: true, rollout }, now);
    expect(decision.actions).toEqual([{ do: 'checkInventory' }]);
    expect(decision.blockers.map(({ kind }) => kind)).toEqual(['outliersUnclear', 'inventory']);
  });

  it('is one in a wave that has passed, too, but not in one that has not started', () => {
    const late = view({ canary: all({ failed: 1 }), restState: 'open' });
    expect(alarmOf(late)).toMatchObject({ action: { do: 'breach' } });
    const badRest = { canary: all({ succeeded: 1 }), rest: all({ failed: 1 }) };
    expect(alarmOf(view(badRest))).toBeUndefined();
    expect(alarmOf(view({ ...badRest, restState: 'awaitingApproval' }))).toBeUndefined();
    expect(alarmOf(view({ ...badRest, restState: 'open' }))).toMatchObject({
      action: { do: 'breach', holdsBuild: false },
    });
  });

  it('treats only the first of several waves of an upgrade as the canary', () => {
    const of = view({ canary: [] });
    expect(isCanary(assess(of), 0)).toBe(true);
    expect(isCanary(assess(of), 1)).toBe(false);
    expect(isCanary(assess({ ...of, rollout: { ...of.rollout, kind: 'rollback' } }), 0)).toBe(false);
    expect(isCanary(assess(aView()), 0)).toBe(false);
  });
});

describe('members of a held stratum', () => {
  const rollout = { strata: { held: [aHeldStratum(0)] } };
  const bad = {
    canary: [{ failed: 1 }, ...all({ succeeded: 1 }, 9)],
    rest: [{ waiting: 3 }, ...all({ succeeded: 3 }, 9)],
  };
  const aside = view({ ...bad, restState: 'open', rollout });

  it('are neither waited for nor counted in any wave, and the waves of the others pass', () => {
    expect(setAsideIn(aside, 0)).toEqual({ waiting: 0, failed: 1, weight: 1, acknowledged: 0 });
    expect(setAsideIn(aside, 1)).toEqual({ waiting: 3, failed: 0, weight: 0, acknowledged: 0 });
    const two = view({
      canary: [],
      rest: [
        { waiting: 3, failed: 1 },
        { waiting: 2, failed: 1 },
      ],
    });
    expect(setAsideIn(two, 1, new Set([0, 1]))).toMatchObject({ waiting: 5, failed: 2 });
    expect(assess(aside).assessed.map(({ assessment }) => assessment)).toMatchObject([
      { failures: 0, breached: false, settled: true },
      { failures: 0, setAside: 3, settled: true, evidence: 'shown' },
    ]);
    expect(decide(aside, now).actions).toEqual([{ do: 'save', change: { kind: 'wavePassed', wave: 1 } }]);
  });

  it('are not counted as lost either, so that a figure agrees with its explanation (P16)', () => {
    const lost = (weight: number) => ({ failed: 1, weight });
    const canary = [lost(3), lost(3), lost(1), ...all({ succeeded: 1 }, 7)];
    const of = view({ canary, rollout });
    const [wave] = of.waves;
    const waves = wave === undefined ? [] : [{ ...wave, weight: 7, lost: 2 }];
    expect(assess({ ...of, waves }).assessed[0]?.assessment).toMatchObject({ failures: 4, lost: 1 });
  });

  it('stay set aside when another stratum is judged', () => {
    const canary = [{ failed: 1 }, { failed: 1 }, ...all({ succeeded: 1 }, 8)];
    const second = view({ canary, rollout: { strata: { held: [aHeldStratum(1)] } } });
    expect(alarmOf(second)).toMatchObject({ action: { do: 'isolate', strata: [{ stratum: 0 }] } });
  });

  it('are no evidence when they are the whole first wave, so that the rollout is held (P14)', () => {
    const whole = view({ canary: [{ waiting: 10 }], rollout });
    const cause = { kind: 'noEvidence', wave: 'canary', ended: [], setAside: 10 };
    const heldFor = { kind: 'evidence', wave: 0 } as const;
    expect(decide(whole, now).actions).toEqual([{ do: 'hold', cause, heldFor }]);
    // Its release ends the hold.
    const { strata } = whole.rollout;
    const onceHeld = (held: typeof strata.held) => {
      const hold = { number: 7, heldFor };
      const is = { ...whole.rollout, state: 'held', hold, strata: { ...strata, held } } as const;
      return decide({ ...whole, rollout: is }, now).actions;
    };
    expect(onceHeld(strata.held)).toEqual([]);
    expect(onceHeld([])).toMatchObject([{ do: 'save', change: { kind: 'holdEnded' } }]);
  });

  it('let a wave pass that has no others, after a wave with an upgraded collector or where nobody follows', () => {
    const rest = [{ failed: 4, waiting: 26 }];
    const evidenceOf = (of: RolloutView, wave: number) => assess(of).assessed[wave]?.assessment.evidence;
    const given = { rest, restState: 'open', rollout } as const;
    expect(evidenceOf(view({ ...given, canary: [{}, ...all({ succeeded: 1 }, 9)] }), 1)).toBe('shown');
    expect(evidenceOf(view({ ...given, canary: [] }), 1)).toBe('shown');
    const third = view({ ...given, canary: [] });
    const [canary, last] = third.rollout.waves;
    if (canary === undefined || last === undefined) throw new Error('it has two waves');
    const { policy } = third.rollout;
    const rules = [...policy.waves, ...policy.waves.slice(1)];
    const more = { ...third.rollout, waves: [canary, last, last], policy: { ...policy, waves: rules } };
    const summaries = [...third.waves, ...third.waves.slice(1)];
    expect(evidenceOf({ ...third, rollout: more, waves: summaries }, 1)).toBe('none');
  });

  it('hold the rollout once all others are done, and are withdrawn by resume', () => {
    const done = view({ ...bad, restState: 'passed', rollout });
    const hold = { do: 'hold', cause: { kind: 'onlyHeldStrata', upgrades: 3, labels: ['s0'] } };
    expect(decide(done, now).actions).toEqual([hold]);
    // One without a collector that waits is not named.
    const empty = aHeldStratum(9);
    const strata = { ...done.rollout.strata, held: [...done.rollout.strata.held, empty] };
    expect(decide({ ...done, rollout: { ...done.rollout, strata } }, now).actions).toEqual([hold]);
    const others = view({ ...bad, rest: [{ waiting: 3 }, { active: 1 }], restState: 'passed', rollout });
    expect(decide(others, now).actions).toEqual([]);
    const after = resumed({ ...done, rollout: { ...done.rollout, state: 'held' } }, now);
    expect(decide(after, now).actions).toEqual([
      { do: 'withdrawWaiting', reason: { kind: 'heldToTheEnd', labels: ['s0'] } },
    ]);
    const withdrawn = [done.waves[0] ?? aSummary(), aSummary({ succeeded: 27, withdrawn: 3 })];
    expect(decide({ ...after, waves: withdrawn }, now).actions).toContainEqual({
      do: 'save',
      change: { kind: 'finished', state: 'finishedWithFailures' },
    });
  });

  it.each<[string, boolean, Partial<Given>, readonly number[]]>([
    ['when all others are done', true, { restState: 'passed', rest: bad.rest }, [0]],
    ['while a wave has still to pass', false, { restState: 'open', rest: bad.rest }, [0]],
    ['while others are running', false, { restState: 'passed', rest: [{ waiting: 3 }, { active: 1 }] }, [0]],
    ['where none is held', false, { restState: 'passed', rest: [] }, []],
  ])('are given up by a resume %s: %s', (_when, expected, given, held) => {
    const heldStrata = held.map((stratum) => aHeldStratum(stratum));
    const of = view({
      canary: all({ succeeded: 1 }),
      ...given,
      rollout: { strata: { held: heldStrata }, state: 'paused' },
    });
    expect(resumed(of, now).rollout.strata.endsWithoutHeld).toBe(expected);
  });
});

describe('failures in general', () => {
  const released = (of: RolloutView, stratum: number) => {
    const { label } = aHeldStratum(stratum);
    const reason = askedFor('');
    return afterFact(of, { kind: 'stratumReleased', at: now, reason, stratum, label, view: of });
  };

  it('of a released stratum are acknowledged, and only later ones count', () => {
    const bad = (failed: number, heldStrata = [aHeldStratum(0)]) =>
      view({
        canary: [{ failed: 1 }, ...all({ succeeded: 3 }, 9)],
        rest: [{ failed }, ...all({ succeeded: 9 }, 9)],
        restState: 'open',
        rollout: { strata: { held: heldStrata } },
      });
    expect(alarmOf(bad(2, []))).toBeDefined();
    const after = released(bad(2), 0);
    expect(after.rollout.strata.acknowledged).toEqual([
      { stratum: 0, wave: 0, failed: 1, weight: 1 },
      { stratum: 0, wave: 1, failed: 2, weight: 2 },
    ]);
    expect(alarmOf(after)).toBeUndefined();
    expect(alarmOf({ ...bad(4), rollout: after.rollout })).toMatchObject({
      action: { do: 'isolate', strata: [{ failed: 2, tried: 2, elsewhere: { failed: 0, tried: 108 } }] },
    });
  });

  it('that were retried are no longer acknowledged', () => {
    const one = view({ canary: [{ failed: 1 }] });
    const known = [{ stratum: 0, wave: 0, failed: 3, weight: 3 }];
    const of = { ...one, rollout: changedRollout(one.rollout, { strata: { acknowledged: known } }) };
    const lowered = afterFact(of, { kind: 'acknowledgedLowered', at: now, view: of }).rollout;
    expect(lowered.strata.acknowledged).toEqual([{ stratum: 0, wave: 0, failed: 1, weight: 1 }]);
  });
});
