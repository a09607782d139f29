import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { blockerText } from '../../../../src/rollout/messages/blockers.ts';
import type { RolloutView, Wave } from '../../../../src/rollout/model/rollout.ts';
import { isEnd, isFailed, isOnBuild, upgradeStates } from '../../../../src/rollout/model/upgrade.ts';
import { explainUpgrade } from '../../../../src/rollout/status/explain.ts';
import { judgeVerb } from '../../../../src/rollout/verbs/judge-verb.ts';
import { anUpgrade, because, startedAt } from '../../../support/builders.ts';
import { asShown } from '../../../support/night/as-shown.ts';
import { aDeferredOne, afterFacts, anEndedOne } from '../../../support/upgrade-cases.ts';
import {
  afterAction,
  afterFact,
  aViewOf,
  type Counts,
  type ViewCase,
  type WaveCase,
  waiting,
} from '../../../support/view-cases.ts';

const hour = 3_600_000;
const now = startedAt + hour;
const upToMs = 12 * hour;

const rest: WaveCase = { counts: { pending: 20 }, wave: waiting };

/** A canary of two of which one may fail, and a wave behind it. */
function aCanary(counts: Counts, changes: ViewCase = {}, canary: WaveCase = {}): RolloutView {
  const rule = { soakMs: hour, maxFailures: { kind: 'count', count: 1 } } as const;
  return aViewOf({
    waves: [{ name: 'canary', counts, rule, ...canary, wave: { size: 2, ...canary.wave } }, rest],
    policy: { defer: { upToMs } },
    ...changes,
  });
}

const withCounts = (view: RolloutView, counts: Counts): RolloutView => ({
  ...view,
  waves: aCanary(counts).waves,
});
const actionsOf = (view: RolloutView) => decide(view, now).actions;

/** The view after what its own decision asks for first. */
function afterDecision(view: RolloutView): RolloutView {
  const [action] = actionsOf(view);
  const after = action && afterAction(view, action, now);
  if (after === undefined) throw new Error('nothing was decided');
  return { ...after, braked: after.rollout.state === 'held' };
}

function verb(view: RolloutView, name: 'pause' | 'resume'): RolloutView {
  const judgement = judgeVerb(view, asShown(view, name), { by: 'ann', reason: '', at: now });
  if (judgement.kind !== 'change') throw new Error(`${name}: ${judgement.kind}`);
  return afterFact(view, judgement.fact);
}

describe('a wave without an upgraded collector', () => {
  const deferred = (collectorName: string, since: number) => aDeferredOne({ since }, { collectorName });

  it('waits for its deferred collectors, is not held, and shows which, why and until when', () => {
    const two = [deferred('web-1', startedAt), deferred('web-2', startedAt + 60_000)];
    const reason = { kind: 'notAlive' };
    expect(decide(aCanary({ deferred: 2 }, { deferred: two }), now)).toMatchObject({
      actions: [],
      blockers: [
        {
          kind: 'deferred',
          wave: 'canary',
          upgrades: 2,
          known: [
            { name: 'web-1', reason },
            { name: 'web-2', reason },
          ],
          until: startedAt + 60_000 + upToMs,
        },
      ],
    });
  });

  it('explains the wait to the collectors of later waves', () => {
    const view = aCanary({ deferred: 1 }, { deferred: [deferred('web-1', startedAt)] });
    expect(explainUpgrade(view, anUpgrade({ state: 'pending' }, { wave: 1 }), now)).toEqual({
      reason:
        'its wave rest waits for: gate of canary; wave canary waits for 1 deferred collector: ' +
        'web-1 (the collector is not alive); none of its collectors is upgraded yet',
      until: startedAt + upToMs,
    });
  });

  it('is held when none of its collectors can be upgraded any more, and continues by itself when one is upgraded', () => {
    const held = afterDecision(aCanary({ withdrawn: 1, failed: 1 }));
    expect(held.rollout).toMatchObject({ state: 'held', hold: { heldFor: { kind: 'evidence', wave: 0 } } });
    expect(actionsOf(held)).toEqual([]);
    const after = afterDecision(withCounts(held, { succeeded: 1, failed: 1 }));
    expect(after.rollout).toMatchObject({
      state: 'running',
      reason: { kind: 'evidence', wave: 'canary', isShown: true },
    });
    expect(after.rollout.hold?.heldFor).toBeUndefined();
    expect(actionsOf(after)).toMatchObject([{ do: 'save', change: { kind: 'soakBegun', wave: 0 } }]);
  });
});

describe('a canary that someone else upgraded', () => {
  const byHand = (wave: Partial<Wave> = {}, rule = {}) =>
    aCanary({ withdrawn: 2 }, {}, { wave, summary: { onBuild: 1 }, ...rule });

  it('is no evidence when there is no soak to observe it (P14)', () => {
    expect(actionsOf(byHand({}, { rule: { soakMs: 0 } }))).toMatchObject([
      { do: 'hold', heldFor: { kind: 'evidence' } },
    ]);
  });

  it('is observed like the others: its wave passes only once it was alive on the build after the soak', () => {
    const soaking = { state: 'soaking', soakEndsAt: now } as const;
    const seen = (silent: number) => byHand({ ...soaking, soakCheck: { at: now, silent, failedPolls: 0 } });
    expect(actionsOf(byHand(soaking))).toMatchObject([{ do: 'checkSoak' }]);
    expect(actionsOf(seen(1))).toEqual([]);
    expect(actionsOf(seen(0))).toEqual([{ do: 'save', change: { kind: 'wavePassed', wave: 0 } }]);
    // It shows the build no more.
    expect(actionsOf(withCounts(byHand(soaking), { withdrawn: 2 }))).toMatchObject([{ do: 'hold' }]);
  });

  it.each([true, false])('is no failure when it no longer shows the build, lost: %s', (lost) => {
    const upgrade = anEndedOne('withdrawn', { onBuild: true });
    const regressed = { kind: 'regressed', at: now, lost, reason: because('died') } as const;
    const after = afterFacts(upgrade, regressed);
    expect(after).toMatchObject({ progress: { state: 'withdrawn', weight: 0, lost: false } });
    expect(isOnBuild(after)).toBe(false);
    // It is not observed any more.
    expect(afterFacts(after, regressed)).toBe(after);
  });
});

describe('a hold for missing evidence (P4)', () => {
  const held = () => afterDecision(aCanary({ withdrawn: 2 }));

  it('becomes an operator’s pause, and no longer ends by itself', () => {
    const paused = verb(held(), 'pause');
    expect(paused.rollout).toMatchObject({ state: 'paused', reason: { kind: 'asked', by: 'ann' } });
    expect(actionsOf(withCounts(paused, { withdrawn: 1, succeeded: 1 }))).toEqual([]);
  });

  it('is replaced by a breach when there are too many failures', () => {
    expect(actionsOf(withCounts(held(), { failed: 2 }))).toMatchObject([{ do: 'breach' }]);
  });

  it('is ended by resume, which accepts the missing evidence', () => {
    const resumed = verb(held(), 'resume');
    expect(resumed.rollout.state).toBe('running');
    expect(resumed.rollout.hold?.heldFor).toBeUndefined();
    expect(actionsOf({ ...resumed, braked: false })).toMatchObject([
      { do: 'save', change: { kind: 'soakBegun' } },
    ]);
  });

  it('is not accepted by a resume while deferred collectors may still bring some (P14)', () => {
    const resumed = verb(aCanary({ deferred: 1, withdrawn: 1 }, { rollout: { state: 'paused' } }), 'resume');
    expect(resumed.rollout.waves[0]?.acceptedWithoutEvidence).toBe(false);
    expect(actionsOf(withCounts(resumed, { withdrawn: 2 }))).toMatchObject([{ do: 'hold' }]);
  });

  const someCounts = fc.dictionary(fc.constantFrom(...upgradeStates), fc.integer({ min: 0, max: 3 }));

  it('ends only with evidence, or with a collector that may still bring some', () => {
    fc.assert(
      fc.property(someCounts, fc.boolean(), (counts: Counts, isBuildHeld) => {
        const hold = { build: '19.536-4', by: 'ann', reason: 'breaks logs', at: now };
        const view = aCanary(counts, {
          rollout: { state: 'held', hold: { heldFor: { kind: 'evidence', wave: 0 } } },
          braked: true,
          buildHold: isBuildHeld ? hold : null,
        });
        const ends = actionsOf(view).some(
          (action) => action.do === 'save' && action.change.kind === 'holdEnded',
        );
        const some = upgradeStates.filter((state) => (counts[state] ?? 0) > 0);
        const mayCome = some.some((state) => !isEnd(state) || state === 'succeeded');
        const failures = some.filter(isFailed).reduce((sum, state) => sum + (counts[state] ?? 0), 0);
        expect(ends).toBe(mayCome && !isBuildHeld && failures <= 1);
      }),
    );
  });
});

describe('the end of a rollout', () => {
  it.each([
    [1, 'the rollout waits for 1 deferred collector'],
    [2, 'the rollout waits for 2 deferred collectors'],
  ])('waits for %i deferred, and shows until when at the latest', (deferred, words) => {
    const passed = { wave: { state: 'passed' } } as const;
    const waves = [
      { counts: { succeeded: 1, deferred }, ...passed },
      { counts: { succeeded: 20 }, ...passed },
    ];
    const blocker = {
      kind: 'deferred',
      wave: null,
      upgrades: deferred,
      known: [],
      until: startedAt + upToMs,
    } as const;
    expect(decide(aViewOf({ waves, policy: { defer: { upToMs } } }), now).blockers).toEqual([blocker]);
    expect(blockerText(blocker)).toBe(words);
  });
});
