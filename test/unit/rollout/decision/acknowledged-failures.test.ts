import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assess, tripAbove } from '../../../../src/rollout/decision/assess.ts';
import { raiseAlarm } from '../../../../src/rollout/decision/breaker.ts';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { evolveRollout, type RolloutFact } from '../../../../src/rollout/decision/evolve-rollout.ts';
import type { Amount } from '../../../../src/rollout/model/policy.ts';
import type { Rollout, RolloutView, StratumSummary } from '../../../../src/rollout/model/rollout.ts';
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

const at = startedAt + 3_600_000;
const waveSize = 40;
const strata = ['s0', 's1', 's2'];

interface Failure {
  readonly wave: number;
  readonly stratum: number;
  /** 3: it did not come back. */
  readonly weight: number;
}

/** A canary that has passed, and the rest, with these failures and enough that succeeded. */
function viewOf(rollout: Rollout, failures: readonly Failure[]): RolloutView {
  const weightOf = (some: readonly Failure[]) => some.reduce((sum, { weight }) => sum + weight, 0);
  const summaries = [0, 1].map((wave) => {
    const own = failures.filter((failure) => failure.wave === wave);
    return aSummary(
      { succeeded: 5, failed: own.length, pending: waveSize - own.length - 5 },
      { weight: weightOf(own) },
    );
  });
  const parts = [0, 1].flatMap((wave) =>
    strata.flatMap((_label, stratum): StratumSummary[] => {
      const own = failures.filter((failure) => failure.wave === wave && failure.stratum === stratum);
      if (own.length === 0) return [];
      return [aStratumSummary({ stratum, wave, failed: own.length, weight: weightOf(own) })];
    }),
  );
  return aView({
    rollout,
    groups: someGroups({
      strata: strata.map((label) => ({ label, sizes: [10, 20] })),
      lanes: strata.map((_label, stratum) => ({ stratum, timeZone: '', domains: [] })),
    }),
    waves: summaries,
    strata: parts,
  });
}

function aRunning(limits: readonly Amount[]): Rollout {
  const rules = limits.map((maxFailures, wave) => aWaveRule({ name: `w${wave}`, maxFailures }));
  return aRollout({
    policy: aPolicy({ waves: rules, isolateStrata: false }),
    waves: rules.map(({ name }, wave) =>
      aWave({ name, size: waveSize, state: wave === 0 ? 'passed' : 'open' }),
    ),
  });
}

/** Saves what the leader decides until it has nothing to say of failures any more. */
function led(rollout: Rollout, failures: readonly Failure[]): Rollout {
  const view = viewOf(rollout, failures);
  const { actions } = decide(view, at);
  const breach = actions.find((action) => action.do === 'breach');
  if (breach !== undefined) return evolveRollout(rollout, { kind: 'held', at, reason: breach.cause });
  if (!actions.some((action) => action.do === 'lowerAcknowledged')) return rollout;
  return led(evolveRollout(rollout, { kind: 'acknowledgedLowered', at, view }), failures);
}

const canaryFails: Failure = { wave: 0, stratum: 0, weight: 1 };

describe('failures after a resume', () => {
  it('hold again when there is one more than the limit, and not before', () => {
    let rollout = aRunning([
      { kind: 'count', count: 2 },
      { kind: 'count', count: 0 },
    ]);
    const failures = [canaryFails, canaryFails, canaryFails];
    rollout = led(rollout, failures);
    expect(rollout).toMatchObject({
      state: 'held',
      reason: { kind: 'failures', failures: { failures: 3, failuresAllowed: 2 } },
    });
    // A fourth comes while it is held, from an upgrade that was on its way; it is known at the resume, too.
    failures.push(canaryFails);
    for (const round of [1, 2]) {
      rollout = evolveRollout(rollout, {
        kind: 'resumed',
        at,
        reason: because(''),
        view: viewOf(rollout, failures),
      });
      expect(assess(viewOf(rollout, failures)).assessed[0]?.assessment).toMatchObject({
        failures: 0,
        failuresAllowed: 2,
        acknowledged: round === 1 ? 4 : 7,
      });
      for (let more = 0; more < 3; more += 1) {
        expect(led(rollout, failures).state).toBe('running');
        failures.push(canaryFails);
      }
      rollout = led(rollout, failures);
      expect(rollout.state).toBe('held');
    }
    expect(rollout.reason).toMatchObject({ failures: { failures: 3, failuresAllowed: 2, acknowledged: 7 } });
  });

  it('are the only ones that count, whatever was held, released, resumed or tried again before', () => {
    const amounts = fc.oneof(
      fc.integer({ min: 0, max: 4 }).map((count): Amount => ({ kind: 'count', count })),
      fc.constantFrom(1, 5, 10).map((percent): Amount => ({ kind: 'percent', percent })),
    );
    const stratum = fc.integer({ min: 0, max: strata.length - 1 });
    const wave = fc.integer({ min: 0, max: 1 });
    const words = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          say: fc.constant('fail' as const),
          wave,
          stratum,
          weight: fc.constantFrom(1, 3),
        }),
      },
      { weight: 2, arbitrary: fc.record({ say: fc.constant('resume' as const) }) },
      {
        weight: 1,
        arbitrary: fc.record({ say: fc.constantFrom('hold' as const, 'release' as const), stratum }),
      },
      { weight: 1, arbitrary: fc.record({ say: fc.constant('retry' as const), wave }) },
    );
    const seen = { held: 0, again: 0 };
    fc.assert(
      fc.property(fc.tuple(amounts, amounts), fc.array(words, { maxLength: 40 }), (limits, said) => {
        let rollout = aRunning(limits);
        let failures: Array<Failure & { isNew: boolean }> = [];
        const save = (fact: RolloutFact) => {
          rollout = evolveRollout(rollout, fact);
        };
        for (const word of said) {
          const view = viewOf(rollout, failures);
          const label = 'stratum' in word ? (strata[word.stratum] ?? '') : '';
          const isHeld = rollout.heldStrata.some((each) => each.label === label);
          if (word.say === 'fail') failures.push({ ...word, isNew: true });
          if (word.say === 'retry') failures = failures.filter((failure) => failure.wave !== word.wave);
          if (word.say === 'hold' && !isHeld) {
            const held = { stratum: word.stratum, label, reason: because(''), by: 'ann', at };
            save({ kind: 'strataHeld', at, strata: [held] });
          }
          if (word.say === 'release' && isHeld) {
            save({ kind: 'stratumReleased', at, stratum: word.stratum, label, reason: because(''), view });
            failures = failures.map((each) =>
              each.stratum === word.stratum ? { ...each, isNew: false } : each,
            );
          }
          if (word.say === 'resume') {
            if (rollout.state === 'running') save({ kind: 'paused', at, reason: because('') });
            save({ kind: 'resumed', at, reason: because(''), view });
            failures = failures.map((each) => ({ ...each, isNew: false }));
          }
          rollout = led(rollout, failures);
          const heldStrata = new Set(rollout.heldStrata.map((each) => each.stratum));
          const after = assess(viewOf(rollout, failures)).assessed;
          const isOver = after.map(({ wave: own, rule, assessment }, index) => {
            const mine = failures.filter((failure) => failure.wave === index);
            const counted = mine.filter((each) => each.isNew && !heldStrata.has(each.stratum));
            const weight = (some: readonly Failure[]) => some.reduce((sum, each) => sum + each.weight, 0);
            expect(assessment.failures).toBe(weight(counted));
            const over = weight(counted) > assessment.failuresAllowed;
            // The store's own brake never stays behind, and agrees where nothing is held.
            const brakes = weight(mine) > tripAbove(own, rule);
            if (over || heldStrata.size === 0) expect(brakes).toBe(over);
            return over;
          });
          if (isOver.includes(true)) seen.held += 1;
          if (isOver.includes(true) && failures.some(({ isNew }) => !isNew)) seen.again += 1;
          if (rollout.state === 'running') expect(isOver).not.toContain(true);
          expect(raiseAlarm(assess(viewOf(rollout, failures))) !== undefined).toBe(isOver.includes(true));
        }
      }),
      { numRuns: 250 },
    );
    expect(Math.min(seen.held, seen.again)).toBeGreaterThan(50);
  });
});
