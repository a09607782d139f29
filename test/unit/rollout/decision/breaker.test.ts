import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assess, setAsideIn } from '../../../../src/rollout/decision/assess.ts';
import { isCanary, raiseAlarm } from '../../../../src/rollout/decision/breaker.ts';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { evolveRollout } from '../../../../src/rollout/decision/evolve-rollout.ts';
import type { Amount, WaveSize } from '../../../../src/rollout/model/policy.ts';
import type {
  HeldStratum,
  Rollout,
  RolloutView,
  StratumSummary,
  WaveState,
} from '../../../../src/rollout/model/rollout.ts';
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
const strataCount = 10;

/** A stratum in the canary and in the rest. */
interface Part {
  readonly failed?: number;
  readonly succeeded?: number;
  readonly active?: number;
  readonly waiting?: number;
}

interface Given {
  readonly canary: readonly Part[];
  readonly rest?: readonly Part[];
  readonly maxFailures?: Amount;
  readonly size?: WaveSize;
  readonly restState?: WaveState;
  readonly rollout?: Partial<Rollout>;
  readonly isolateStrata?: boolean;
}

const alarmOf = (of: RolloutView) => raiseAlarm(assess(of));

function summaryOf(parts: readonly Part[]) {
  const sum = (of: (part: Part) => number | undefined) =>
    parts.reduce((total, part) => total + (of(part) ?? 0), 0);
  const failed = sum((part) => part.failed);
  return aSummary(
    {
      failed,
      succeeded: sum((part) => part.succeeded),
      upgrading: sum((part) => part.active),
      pending: sum((part) => part.waiting),
    },
    { weight: failed },
  );
}

/** Ten strata of four; a canary with one of each, and the rest. */
function view(given: Given): RolloutView {
  const { canary, rest = [], rollout, isolateStrata = true } = given;
  const waves = [
    aWaveRule({
      name: 'canary',
      size: given.size ?? { kind: 'perStratum', count: 1 },
      maxFailures: given.maxFailures ?? { kind: 'count', count: 0 },
    }),
    aWaveRule({ maxFailures: { kind: 'count', count: 2 } }),
  ];
  const parts = (wave: number, of: readonly Part[]) =>
    of.map(
      (part, stratum): StratumSummary =>
        aStratumSummary({ stratum, wave, ...part, weight: part.failed ?? 0 }),
    );
  return aView({
    rollout: aRollout({
      policy: aPolicy({ waves, isolateStrata }),
      waves: [
        aWave({ name: 'canary', size: 10, state: given.restState === undefined ? 'open' : 'passed' }),
        aWave({ size: 30, state: given.restState ?? 'waiting' }),
      ],
      ...rollout,
    }),
    groups: someGroups({
      strata: Array.from({ length: strataCount }, (_, index) => ({ label: `s${index}`, sizes: [1, 3] })),
      lanes: Array.from({ length: strataCount }, (_, stratum) => ({ stratum, timeZone: '', domains: [] })),
    }),
    waves: [summaryOf(canary), summaryOf(rest)],
    strata: [...parts(0, canary), ...parts(1, rest)],
  });
}

const all = (part: Part, count = strataCount) => Array.from({ length: count }, () => part);
const held = (stratum: number): HeldStratum => ({
  stratum,
  label: `s${stratum}`,
  reason: because('why'),
  by: 'daemon',
  at: startedAt,
});

describe('the breaker', () => {
  it('holds the one stratum that explains it, and the rest goes on', () => {
    const bad = view({ canary: [{ failed: 1 }, ...all({ succeeded: 1 }, 9)] });
    expect(alarmOf(bad)).toEqual({
      kind: 'act',
      action: {
        do: 'isolate',
        strata: [{ stratum: 0, label: 's0', failed: 1, tried: 1, elsewhere: { failed: 0, tried: 9 } }],
      },
    });
    expect(alarmOf({ ...bad, rollout: { ...bad.rollout, heldStrata: [held(0)] } })).toBeUndefined();
  });

  it('breaks the rollout where the policy does not tell strata apart', () => {
    const bad = view({ canary: [{ failed: 1 }, ...all({ succeeded: 1 }, 9)], isolateStrata: false });
    expect(alarmOf(bad)).toMatchObject({ action: { do: 'breach' } });
  });

  it('reads the inventory again while it waits, since a doubt may keep those on their way from ending (P14)', () => {
    const early = view({ canary: [{ failed: 1 }, ...all({ active: 1 }, 9)] });
    const doubt = {
      since: now,
      readAt: now,
      why: { kind: 'empty', expected: 10 },
      size: 0,
      missing: 10,
    } as const;
    const decision = decide({ ...early, braked: true, rollout: { ...early.rollout, doubt } }, now);
    expect(decision.actions).toEqual([{ do: 'checkInventory' }]);
    expect(decision.blockers.map(({ kind }) => kind)).toEqual(['outliersUnclear', 'inventory']);
  });

  it('waits, braked, while those on their way may show that one stratum alone is bad', () => {
    const early = view({ canary: [{ failed: 1 }, ...all({ active: 1 }, 9)] });
    expect(alarmOf(early)).toMatchObject({ kind: 'wait' });
    const decision = decide({ ...early, overdue: [3] }, now);
    expect(decision.actions).toEqual([{ do: 'setBrake' }, { do: 'deliver', collectorIds: [3] }]);
    expect(decision.blockers).toHaveLength(1);
    expect(decide({ ...early, braked: true }, now).actions).toEqual([]);
  });

  it('trips also for a wave that has passed, and for none that has not begun', () => {
    const late = view({ canary: all({ failed: 1 }), restState: 'open' });
    expect(alarmOf(late)).toMatchObject({
      action: { do: 'breach' },
    });
    const unbegun = view({ canary: all({ succeeded: 1 }), rest: all({ failed: 1 }) });
    expect(alarmOf(unbegun)).toBeUndefined();
    const waiting = view({
      canary: all({ succeeded: 1 }),
      rest: all({ failed: 1 }),
      restState: 'awaitingApproval',
    });
    expect(alarmOf(waiting)).toBeUndefined();
    expect(
      alarmOf(view({ canary: all({ succeeded: 1 }), rest: all({ failed: 1 }), restState: 'open' })),
    ).toMatchObject({
      action: { do: 'breach', holdsBuild: false },
    });
  });

  it('takes the build back only for the first of several waves of an upgrade', () => {
    const of = view({ canary: [] });
    expect(isCanary(assess(of), 0)).toBe(true);
    expect(isCanary(assess(of), 1)).toBe(false);
    expect(isCanary(assess({ ...of, rollout: { ...of.rollout, kind: 'rollback' } }), 0)).toBe(false);
    expect(isCanary(assess(aView()), 0)).toBe(false);
  });
});

describe('members of a held stratum', () => {
  const aside = view({
    canary: [{ failed: 1 }, ...all({ succeeded: 1 }, 9)],
    rest: [{ waiting: 3, failed: 0 }, ...all({ succeeded: 3 }, 9)],
    restState: 'open',
    rollout: { heldStrata: [held(0)] },
  });

  it('are neither waited for nor counted, in any wave', () => {
    expect(setAsideIn(aside, 0)).toEqual({ waiting: 0, failed: 1, weight: 1, acknowledged: 0 });
    expect(setAsideIn(aside, 1)).toEqual({ waiting: 3, failed: 0, weight: 0, acknowledged: 0 });
    expect(assess(aside).assessed.map(({ assessment }) => assessment)).toMatchObject([
      { failures: 0, tripped: false, settled: true },
      { failures: 0, setAside: 3, settled: true, evidence: 'shown' },
    ]);
  });

  it('leave the waves of the others passable', () => {
    expect(decide(aside, now).actions).toEqual([{ do: 'passWave', wave: 1 }]);
  });

  it('stay set aside when another stratum is judged', () => {
    const second = view({
      canary: [{ failed: 1 }, { failed: 1 }, ...all({ succeeded: 1 }, 8)],
      rollout: { heldStrata: [held(1)] },
    });
    expect(alarmOf(second)).toMatchObject({ action: { do: 'isolate', strata: [{ stratum: 0 }] } });
  });

  it('are no missing evidence when they are all there is', () => {
    const alone = view({ canary: [{ failed: 4, waiting: 6 }], rollout: { heldStrata: [held(0)] } });
    expect(assess(alone).assessed[0]?.assessment.evidence).toBe('shown');
    const withOther = view({ canary: [{ failed: 4, waiting: 5 }], rollout: { heldStrata: [held(0)] } });
    expect(assess(withOther).assessed[0]?.assessment.evidence).not.toBe('shown');
  });

  it('leave the rollout to an operator once all else is done', () => {
    const { rollout, ...rest } = aside;
    const done = {
      ...rest,
      rollout: { ...rollout, waves: rollout.waves.map((wave) => ({ ...wave, state: 'passed' as const })) },
    };
    expect(decide(done, now).actions).toEqual([
      {
        do: 'hold',
        cause: { kind: 'onlyHeldStrata', upgrades: 3, labels: ['s0'] },
      },
    ]);
    const resumed = evolveRollout(
      { ...done.rollout, state: 'held' },
      { kind: 'resumed', at: now, reason: because(''), view: done },
    );
    expect(resumed.endsWithoutHeld).toBe(true);
    expect(decide({ ...done, rollout: resumed }, now).actions).toEqual([
      { do: 'withdrawWaiting', reason: { kind: 'heldToTheEnd', labels: ['s0'] } },
    ]);
    const withdrawn = {
      ...done,
      rollout: resumed,
      waves: [done.waves[0] ?? aSummary(), aSummary({ succeeded: 27, withdrawn: 3 })],
    };
    expect(decide(withdrawn, now).actions).toContainEqual({ do: 'finish', state: 'finishedWithFailures' });
  });

  it('are not given up by a resume while others are on their way', () => {
    const busy = view({
      canary: all({ succeeded: 1 }),
      rest: [{ waiting: 3 }, { active: 1 }],
      restState: 'passed',
      rollout: { heldStrata: [held(0)], state: 'paused' },
    });
    const resumed = evolveRollout(busy.rollout, {
      kind: 'resumed',
      at: now,
      reason: because(''),
      view: busy,
    });
    expect(resumed.endsWithoutHeld).toBe(false);
  });
});

describe('a resume', () => {
  it('gives up no held stratum while a wave has still to pass, and nothing where none is held', () => {
    const resumed = (restState: WaveState, heldStrata: readonly HeldStratum[]) => {
      const of = view({
        canary: all({ succeeded: 1 }),
        rest: [{ waiting: heldStrata.length }, ...all({ succeeded: 3 }, 9)],
        restState,
        rollout: { heldStrata, state: 'paused' },
      });
      return evolveRollout(of.rollout, { kind: 'resumed', at: now, reason: because(''), view: of })
        .endsWithoutHeld;
    };
    expect(resumed('passed', [held(0)])).toBe(true);
    expect(resumed('open', [held(0)])).toBe(false);
    expect(resumed('passed', [])).toBe(false);
  });
});

describe('failures in general', () => {
  const parts = fc.record({
    failed: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 3 })),
    succeeded: fc.integer({ min: 0, max: 3 }),
    active: fc.integer({ min: 0, max: 1 }),
    waiting: fc.integer({ min: 0, max: 2 }),
  });
  const ten = fc.array(parts, { minLength: strataCount, maxLength: strataCount });
  const views = fc
    .record({
      canary: ten,
      rest: ten,
      allowed: fc.integer({ min: 0, max: 6 }),
      restState: fc.constantFrom('open', 'soaking', 'passed', undefined),
      heldStrata: fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { maxLength: 2 }),
      size: fc.constantFrom<WaveSize>({ kind: 'perStratum', count: 1 }, { kind: 'count', count: 10 }),
    })
    .map(({ allowed, heldStrata, restState, ...given }) =>
      view({
        ...given,
        ...(restState === undefined ? {} : { restState }),
        rest: restState === undefined ? all({ waiting: 3 }) : given.rest,
        maxFailures: { kind: 'count', count: allowed },
        rollout: { heldStrata: heldStrata.map(held) },
      }),
    );
  const judging = new Set(['breach', 'isolate', 'setBrake', 'lowerAcknowledged']);
  const verdicts = (of: RolloutView) => decide(of, now).actions.filter((action) => judging.has(action.do));

  it('trip nothing again once an operator has seen them and resumed, until a new one comes', () => {
    let raised = 0;
    fc.assert(
      fc.property(views, (of) => {
        if (alarmOf(of) !== undefined) raised += 1;
        const rollout = evolveRollout(
          { ...of.rollout, state: 'held' },
          { kind: 'resumed', at: now, reason: because(''), view: of },
        );
        expect(verdicts({ ...of, rollout })).toEqual([]);
      }),
      { numRuns: 500 },
    );
    expect(raised).toBeGreaterThan(100);
  });

  it('of a released stratum are known, and only new ones speak against it', () => {
    const bad = (failed: number) =>
      view({
        canary: [{ failed: 1 }, ...all({ succeeded: 3 }, 9)],
        rest: [{ failed }, ...all({ succeeded: 9 }, 9)],
        restState: 'open',
        rollout: { heldStrata: [held(0)] },
      });
    expect(alarmOf({ ...bad(2), rollout: { ...bad(2).rollout, heldStrata: [] } })).toBeDefined();
    const rollout = evolveRollout(bad(2).rollout, {
      kind: 'stratumReleased',
      at: now,
      reason: because(''),
      stratum: 0,
      label: held(0).label,
      view: bad(2),
    });
    expect(rollout.acknowledgedStrata).toEqual([
      { stratum: 0, wave: 0, failed: 1, weight: 1 },
      { stratum: 0, wave: 1, failed: 2, weight: 2 },
    ]);
    expect(alarmOf({ ...bad(2), rollout })).toBeUndefined();
    expect(alarmOf({ ...bad(4), rollout })).toMatchObject({
      action: { do: 'isolate', strata: [{ failed: 2, tried: 2, elsewhere: { failed: 0, tried: 108 } }] },
    });
  });

  it('trip nothing again when their stratum is released', () => {
    fc.assert(
      fc.property(views, (of) => {
        const [first] = of.rollout.heldStrata;
        if (first === undefined || alarmOf(of) !== undefined) return;
        const fact = {
          kind: 'stratumReleased',
          at: now,
          reason: because(''),
          stratum: first.stratum,
          label: first.label,
          view: of,
        } as const;
        const rollout = evolveRollout(of.rollout, fact);
        expect(rollout.heldStrata).not.toContainEqual(first);
        for (const action of verdicts({ ...of, rollout })) {
          // Another stratum may be held in its place; this one has been seen.
          expect(action.do).toBe('isolate');
          if (action.do === 'isolate')
            expect(action.strata.map(({ stratum }) => stratum)).not.toContain(first.stratum);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('of a stratum that is isolated keep no wave of the others from its gate', () => {
    let isolated = 0;
    fc.assert(
      fc.property(views, (of) => {
        const alarm = alarmOf(of);
        if (alarm?.kind !== 'act' || alarm.action.do !== 'isolate') return;
        isolated += 1;
        const at = now;
        const strata = alarm.action.strata.map((each) => ({
          ...each,
          reason: because(''),
          by: 'daemon',
          at,
        }));
        const rollout = evolveRollout(of.rollout, { kind: 'strataHeld', at, strata });
        const after = { ...of, rollout };
        for (const [index, { wave, assessment }] of assess(after).assessed.entries()) {
          if (wave.state !== 'waiting') expect(assessment.tripped).toBe(false);
          const others = of.strata.filter(
            (each) =>
              each.wave === index && !rollout.heldStrata.some(({ stratum }) => stratum === each.stratum),
          );
          const runs = of.strata.some((each) => each.wave === index && each.active > 0);
          if (!runs && others.every(({ waiting }) => waiting === 0)) expect(assessment.settled).toBe(true);
        }
        expect(alarmOf(after)).not.toMatchObject({ action: { do: 'breach' } });
      }),
      { numRuns: 700 },
    );
    expect(isolated).toBeGreaterThan(50);
  });

  it('that were retried make no room for new ones', () => {
    const seen = view({ canary: all({ failed: 1 }) });
    const resumed = evolveRollout(
      { ...seen.rollout, state: 'held' },
      { kind: 'resumed', at: now, reason: because(''), view: seen },
    );
    const retried = {
      ...seen,
      rollout: resumed,
      waves: [aSummary({ retrying: 9, failed: 1 }, { weight: 1 }), aSummary()],
      strata: [aStratumSummary({ stratum: 0, wave: 0, failed: 1, weight: 1 })],
    };
    expect(decide(retried, now).actions).toEqual([{ do: 'lowerAcknowledged' }]);
    const lowered = evolveRollout(resumed, { kind: 'acknowledgedLowered', at: now, view: retried });
    expect(lowered.waves[0]?.acknowledgedWeight).toBe(1);
    const three = [{ stratum: 0, wave: 0, failed: 3, weight: 3 }];
    const more = { ...retried, rollout: { ...resumed, acknowledgedStrata: three } };
    expect(
      evolveRollout(more.rollout, { kind: 'acknowledgedLowered', at: now, view: more }).acknowledgedStrata,
    ).toEqual([{ stratum: 0, wave: 0, failed: 1, weight: 1 }]);
    expect(decide({ ...retried, rollout: lowered }, now).actions).toEqual([]);
    const again = {
      ...retried,
      rollout: lowered,
      waves: [aSummary({ failed: 2, retrying: 8 }, { weight: 2 }), aSummary()],
      strata: [0, 1].map((stratum) => aStratumSummary({ stratum, wave: 0, failed: 1, weight: 1 })),
    };
    expect(decide(again, now).actions).toMatchObject([{ do: 'breach' }]);
  });
});
