import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lowerAcknowledged } from '../../../../src/rollout/decision/acknowledged-failures.ts';
import { assess, brakeAbove } from '../../../../src/rollout/decision/assess.ts';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { evolveRollout } from '../../../../src/rollout/decision/evolve-rollout.ts';
import { raiseAlarm } from '../../../../src/rollout/decision/raise-alarm.ts';
import type { RolloutFact } from '../../../../src/rollout/decision/rollout-facts.ts';
import type { Amount } from '../../../../src/rollout/model/policy.ts';
import type { Rollout, RolloutView } from '../../../../src/rollout/model/rollout.ts';
import { anUpgrade, askedFor, changedRollout, startedAt } from '../../../support/builders.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';
import {
  afterAction,
  aHeldStratum,
  alikeStrata,
  aViewOf,
  aViewOfUpgrades,
  resumed,
} from '../../../support/view-cases.ts';

const at = startedAt + 3_600_000;
const strataCount = 3;

interface Failure {
  readonly wave: number;
  readonly stratum: number;
  /** 3: it did not come back. */
  readonly weight: number;
}

/** A canary that has passed, and the rest: with these failures, one that succeeded and one that waits. */
function viewOf(rollout: Rollout, failures: readonly Failure[]): RolloutView {
  const upgrades = [
    ...failures.map(({ weight, ...where }) => anEndedOne('failed', { weight }, where)),
    ...rollout.waves.flatMap((_, wave) => [
      anEndedOne('succeeded', {}, { wave }),
      anUpgrade({ state: 'pending' }, { wave }),
    ]),
  ];
  return aViewOfUpgrades(rollout, upgrades, { now: at, groups: alikeStrata(strataCount, [10, 20]) });
}

function aRunning(limits: readonly Amount[]): Rollout {
  return aViewOf({
    waves: limits.map((maxFailures, wave) => ({
      name: `w${wave}`,
      rule: { maxFailures },
      wave: { size: 40, state: wave === 0 ? 'passed' : 'open' },
    })),
    policy: { isolate: 'off' },
  }).rollout;
}

/** Saves what the leader decides until it has nothing to say of failures any more. */
function led(rollout: Rollout, failures: readonly Failure[]): Rollout {
  const view = viewOf(rollout, failures);
  const { actions } = decide(view, at);
  const action = actions.find(
    (each) => each.do === 'breach' || (each.do === 'save' && each.change.kind === 'acknowledgedLowered'),
  );
  const after = action && afterAction(view, action, at)?.rollout;
  if (after === undefined) return rollout;
  return action?.do === 'breach' ? after : led(after, failures);
}

describe('failures after a resume', () => {
  it('are no longer acknowledged once none of them is a failure any more', () => {
    const running = aRunning([{ kind: 'count', count: 2 }]);
    const [wave] = running.waves;
    if (wave === undefined) throw new Error('there is one wave');
    const known = [1, 2].map((stratum) => ({ stratum, wave: 0, failed: 1, weight: 1 }));
    const rollout = changedRollout(running, {
      waves: [{ ...wave, acknowledgedWeight: 2 }],
      strata: { acknowledged: known },
    });
    const lowered = lowerAcknowledged(viewOf(rollout, [{ wave: 0, stratum: 2, weight: 1 }]));
    expect(lowered.acknowledged).toEqual(known.slice(1));
    expect(lowered.waves).toMatchObject([{ acknowledgedWeight: 1 }]);
  });

  it('hold the rollout with the present figures, and with the number that is acknowledged', () => {
    const limits = [2, 0].map((count) => ({ kind: 'count', count }) as const);
    const failures = Array.from({ length: 3 }, (): Failure => ({ wave: 0, stratum: 0, weight: 1 }));
    const held = led(aRunning(limits), failures);
    expect(held.reason).toMatchObject({ failures: { failures: 3, failuresAllowed: 2 } });
    // A fourth comes while it is held, from an upgrade that was running; it is known at the resume, too.
    const known = [...failures, ...failures.slice(0, 1)];
    const heldAgain = led(resumed(viewOf(held, known), at).rollout, [...known, ...failures]);
    expect(heldAgain.reason).toMatchObject({
      failures: { failures: 3, failuresAllowed: 2, acknowledged: 4 },
    });
  });

  it('are the only ones that count, whatever was held, released, resumed or retried before', () => {
    const amounts = fc.oneof(
      fc.integer({ min: 0, max: 4 }).map((count): Amount => ({ kind: 'count', count })),
      fc.constantFrom(1, 5, 10).map((percent): Amount => ({ kind: 'percent', percent })),
    );
    const stratum = fc.integer({ min: 0, max: strataCount - 1 });
    const wave = fc.integer({ min: 0, max: 1 });
    const failure = fc.record({ wave, stratum, weight: fc.constantFrom(1, 3) });
    const events = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('fail' as const), failure }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('resume' as const) }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constantFrom('hold' as const, 'release' as const), stratum }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('retry' as const), wave }) },
    );
    const seen = { held: 0, again: 0 };
    fc.assert(
      fc.property(fc.tuple(amounts, amounts), fc.array(events, { maxLength: 40 }), (limits, happened) => {
        let rollout = aRunning(limits);
        let failures: ReadonlyArray<Failure & { readonly isNew: boolean }> = [];
        const acknowledge = (isMeant: (each: Failure) => boolean) => {
          failures = failures.map((each) => (isMeant(each) ? { ...each, isNew: false } : each));
        };
        for (const event of happened) {
          const view = viewOf(rollout, failures);
          const isHeld = (held: number) => rollout.strata.held.some((each) => each.stratum === held);
          const save = (fact: RolloutFact) => {
            rollout = evolveRollout(rollout, fact);
          };
          if (event.kind === 'fail') failures = [...failures, { ...event.failure, isNew: true }];
          if (event.kind === 'retry') failures = failures.filter((each) => each.wave !== event.wave);
          if (event.kind === 'hold' && !isHeld(event.stratum))
            save({ kind: 'strataHeld', at, strata: [aHeldStratum(event.stratum)] });
          if (event.kind === 'release' && isHeld(event.stratum)) {
            const { label } = aHeldStratum(event.stratum);
            save({ kind: 'stratumReleased', at, stratum: event.stratum, label, reason: askedFor(''), view });
            acknowledge((each) => each.stratum === event.stratum);
          }
          if (event.kind === 'resume') {
            const wasHeld = rollout.state === 'held';
            if (!wasHeld) save({ kind: 'paused', at, reason: askedFor('') });
            rollout = resumed({ ...view, rollout }, at).rollout;
            // A pause is no verdict on failures: they still count.
            if (wasHeld) acknowledge(() => true);
          }
          rollout = led(rollout, failures);
          const heldStrata = new Set(rollout.strata.held.map((each) => each.stratum));
          const after = assess(viewOf(rollout, failures)).assessed;
          const isOver = after.map(({ wave: own, rule, assessment }, index) => {
            const mine = failures.filter((failure) => failure.wave === index);
            const counted = mine.filter((each) => each.isNew && !heldStrata.has(each.stratum));
            const weight = (some: readonly Failure[]) => some.reduce((sum, each) => sum + each.weight, 0);
            expect(assessment.failures).toBe(weight(counted));
            const over = weight(counted) > assessment.failuresAllowed;
            // The store's own brake never stays behind, and agrees where nothing is held.
            const brakes = weight(mine) > brakeAbove(own, rule);
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
