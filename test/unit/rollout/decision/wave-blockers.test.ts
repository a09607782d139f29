import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { evolveRollout } from '../../../../src/rollout/decision/evolve-rollout.ts';
import {
  type Rollout,
  type RolloutView,
  rolloutStates,
  type Wave,
} from '../../../../src/rollout/model/rollout.ts';
import {
  isIn,
  isOnBuild,
  type UpgradeIn,
  type UpgradeState,
  upgradeStates,
} from '../../../../src/rollout/model/upgrade.ts';
import { explainUpgrade } from '../../../../src/rollout/status/explain.ts';
import { evolve } from '../../../../src/rollout/upgrade/evolve.ts';
import { judgeVerb } from '../../../../src/rollout/verbs/verbs.ts';
import {
  aContext,
  anUpgrade,
  aPolicy,
  aRollout,
  aSummary,
  aView,
  aWave,
  aWaveRule,
  because,
  startedAt,
} from '../../../support/builders.ts';
import { asShown } from '../../../support/night/as-shown.ts';

const hour = 3_600_000;
const now = startedAt + hour;
const upToMs = 12 * hour;
const ann = { by: 'ann', reason: '', at: now };

type Counts = Partial<Record<UpgradeState, number>>;

/** A canary of two of which one may fail, and a wave behind it. */
function aCanary(counts: Counts, rollout: Partial<Rollout> = {}, view: Partial<RolloutView> = {}) {
  const waves = [
    aWaveRule({ name: 'canary', soakMs: hour, maxFailures: { kind: 'count', count: 1 } }),
    aWaveRule(),
  ];
  const failed = (counts.failed ?? 0) + (counts.timedOut ?? 0) + (counts.unconfirmed ?? 0);
  return aView({
    rollout: aRollout({
      policy: aPolicy({ waves, defer: { upToMs } }),
      waves: [
        aWave({ name: 'canary', size: 2 }),
        aWave({ name: 'rest', size: 20, state: 'waiting', openedAt: null }),
      ],
      ...rollout,
    }),
    waves: [aSummary(counts, { weight: failed }), aSummary({ pending: 20 })],
    ...view,
  });
}

/** The rollout after what its own decision asks for, as far as that is a hold or the end of one. */
function afterDecision(view: RolloutView): RolloutView {
  const [action] = decide(view, now).actions;
  if (action?.do === 'hold') {
    const { cause, heldFor } = action;
    const fact = {
      kind: 'held',
      at: now,
      reason: cause,
      ...(heldFor === undefined ? {} : { heldFor }),
    } as const;
    return { ...view, rollout: evolveRollout(view.rollout, fact), braked: true };
  }
  if (action?.do === 'endHold') {
    const fact = { kind: 'holdEnded', at: now, reason: action.reason } as const;
    return { ...view, rollout: evolveRollout(view.rollout, fact), braked: false };
  }
  return view;
}

function verb(view: RolloutView, name: 'pause' | 'resume'): RolloutView {
  const judgement = judgeVerb(view, asShown(view, name), ann);
  if (judgement.kind !== 'change') throw new Error(`${name}: ${judgement.kind}`);
  return { ...view, rollout: evolveRollout(view.rollout, judgement.fact) };
}

const withCounts = (view: RolloutView, counts: Counts): RolloutView => ({
  ...view,
  waves: [aSummary(counts), aSummary({ pending: 20 })],
});

function aDeferredOne(collectorName: string, since: number): UpgradeIn<'deferred'> {
  const reason = { kind: 'notAlive' } as const;
  const upgrade = anUpgrade(
    { state: 'deferred', condition: 'notAlive', since, dueAt: now, reason },
    { collectorName },
  );
  if (!isIn(upgrade, 'deferred')) throw new Error('it is deferred');
  return upgrade;
}

describe('a wave without an upgraded collector', () => {
  it('waits for its deferred ones, is not held, and says who, why and until when', () => {
    const deferred = [aDeferredOne('web-1', startedAt), aDeferredOne('web-2', startedAt + 60_000)];
    const decision = decide(aCanary({ deferred: 2 }, {}, { deferred }), now);
    expect(decision.actions).toEqual([]);
    expect(decision.blockers).toEqual([
      {
        kind: 'deferred',
        wave: 'canary',
        upgrades: 2,
        known: [
          { name: 'web-1', reason: { kind: 'notAlive' } },
          { name: 'web-2', reason: { kind: 'notAlive' } },
        ],
        until: startedAt + 60_000 + upToMs,
      },
    ]);
  });

  it('explains the wait to the collectors of the waves behind it', () => {
    const view = aCanary({ deferred: 1 }, {}, { deferred: [aDeferredOne('web-1', startedAt)] });
    expect(explainUpgrade(view, anUpgrade({ state: 'pending' }, { wave: 1 }), now)).toEqual({
      reason:
        'its wave rest waits for: gate of canary; wave canary waits for 1 deferred collector: ' +
        'web-1 (the collector is not alive); no collector of it is upgraded yet',
      until: startedAt + upToMs,
    });
  });

  it('is held when none of it can be upgraded any more, and continues by itself when one is', () => {
    const held = afterDecision(aCanary({ withdrawn: 1, failed: 1 }));
    expect(held.rollout).toMatchObject({ state: 'held', heldFor: { kind: 'evidence', wave: 0 } });
    expect(decide(held, now).actions).toEqual([]);
    const goesOn = afterDecision(withCounts(held, { succeeded: 1, failed: 1 }));
    expect(goesOn.rollout).toMatchObject({
      state: 'running',
      reason: { kind: 'evidence', wave: 'canary', isShown: true },
    });
    expect(goesOn.rollout.heldFor).toBeUndefined();
    expect(decide(goesOn, now).actions).toMatchObject([{ do: 'beginSoak', wave: 0 }]);
  });
});

describe('a canary that someone else upgraded', () => {
  const byHand = (wave: Partial<Wave> = {}, soakMs = hour): RolloutView => {
    const view = aCanary({ withdrawn: 2 });
    const [canary = aWave(), rest = aWave()] = view.rollout.waves;
    const [rule = aWaveRule(), ...rules] = view.rollout.policy.waves;
    return {
      ...view,
      rollout: {
        ...view.rollout,
        policy: { ...view.rollout.policy, waves: [{ ...rule, soakMs }, ...rules] },
        waves: [{ ...canary, ...wave }, rest],
      },
      waves: [aSummary({ withdrawn: 2 }, { onBuild: 1 }), aSummary({ pending: 20 })],
    };
  };

  it('is none where nobody would observe it on the build (P14)', () => {
    expect(decide(byHand({}, 0), now).actions).toMatchObject([{ do: 'hold', heldFor: { kind: 'evidence' } }]);
  });

  it('is observed like the others: its wave passes only once it was seen alive on the build after the soak', () => {
    const soaking = { state: 'soaking', soakEndsAt: now } as const;
    expect(decide(byHand(soaking), now).actions).toMatchObject([{ do: 'checkSoak' }]);
    const silent = { soakCheck: { at: now, silent: 1, failedPolls: 0 } };
    expect(decide(byHand({ ...soaking, ...silent }), now).actions).toEqual([]);
    const well = { soakCheck: { at: now, silent: 0, failedPolls: 0 } };
    expect(decide(byHand({ ...soaking, ...well }), now).actions).toEqual([{ do: 'passWave', wave: 0 }]);
  });

  it('holds its wave when it shows the build no more, and is no failure', () => {
    const upgrade = anUpgrade({
      state: 'withdrawn',
      endedAt: now,
      reason: because('runs the build already'),
      weight: 0,
      lost: false,
      onBuild: true,
    });
    for (const lost of [true, false]) {
      const after = evolve(
        upgrade,
        { kind: 'regressed', at: now, lost, reason: because('died') },
        aContext(),
      );
      expect(after).toMatchObject({ progress: { state: 'withdrawn', weight: 0, lost: false } });
      expect(isOnBuild(after)).toBe(false);
      // Told once: it is not observed any more.
      expect(evolve(after, { kind: 'regressed', at: now, lost, reason: because('died') }, aContext())).toBe(
        after,
      );
    }
    const view = byHand({ state: 'soaking', soakEndsAt: now });
    expect(decide(withCounts(view, { withdrawn: 2 }), now).actions).toMatchObject([{ do: 'hold' }]);
  });
});

describe('a hold for missing evidence is no other hold (P4)', () => {
  const held = () => afterDecision(aCanary({ withdrawn: 2 }));
  const evidence: Counts = { withdrawn: 1, succeeded: 1 };

  it('becomes a person’s with a pause, and does not end by itself any more', () => {
    const paused = verb(held(), 'pause');
    expect(paused.rollout).toMatchObject({ state: 'paused', reason: { kind: 'asked', by: 'ann' } });
    expect(decide(withCounts(paused, evidence), now).actions).toEqual([]);
  });

  it('does not end over too many failures: the breach takes its place', () => {
    const view = { ...held(), waves: [aSummary({ failed: 2 }, { weight: 2 }), aSummary({ pending: 20 })] };
    expect(decide(view, now).actions).toMatchObject([{ do: 'breach' }]);
  });

  it('is left by resume, which accepts the missing evidence', () => {
    const resumed = verb(held(), 'resume');
    expect(resumed.rollout).toMatchObject({ state: 'running' });
    expect(resumed.rollout.heldFor).toBeUndefined();
    expect(decide({ ...resumed, braked: false }, now).actions).toMatchObject([{ do: 'beginSoak' }]);
  });

  it('is not accepted by a resume while deferred collectors may still bring some (P14)', () => {
    const resumed = verb(aCanary({ deferred: 1, withdrawn: 1 }, { state: 'paused' }), 'resume');
    expect(resumed.rollout.waves[0]?.acceptedWithoutEvidence).toBe(false);
    expect(decide(withCounts(resumed, { withdrawn: 2 }), now).actions).toMatchObject([{ do: 'hold' }]);
  });

  it('nothing that a person or a breach stopped, and no record of before, continues by itself', () => {
    const counts = fc.dictionary(fc.constantFrom(...upgradeStates), fc.integer({ min: 0, max: 3 }));
    const stopped = fc.constantFrom(
      ...rolloutStates.filter((state) => state !== 'running' && state !== 'rollingBack'),
    );
    fc.assert(
      fc.property(counts, stopped, fc.boolean(), (some, state, braked) => {
        const { actions } = decide(aCanary(some, { state, reason: because('by ann') }, { braked }), now);
        expect(actions.filter((action) => action.do === 'endHold' || action.do === 'admit')).toEqual([]);
      }),
    );
  });

  it('ends only with evidence or a collector that may bring some, whatever else is true', () => {
    const counts = fc.dictionary(fc.constantFrom(...upgradeStates), fc.integer({ min: 0, max: 2 }));
    fc.assert(
      fc.property(counts, fc.boolean(), (some: Counts, isBuildHeld) => {
        const buildHold = isBuildHeld
          ? { build: '19.536-4', by: 'ann', reason: 'breaks logs', at: now }
          : null;
        const heldFor = { kind: 'evidence', wave: 0 } as const;
        const view = aCanary(some, { state: 'held', heldFor }, { braked: true, buildHold });
        const ends = decide(view, now).actions.some((action) => action.do === 'endHold');
        const failures = (some.failed ?? 0) + (some.timedOut ?? 0) + (some.unconfirmed ?? 0);
        const over: readonly UpgradeState[] = [
          'failed',
          'timedOut',
          'unconfirmed',
          'withdrawn',
          'rolledBack',
        ];
        const mayCome = upgradeStates.some((state) => !over.includes(state) && (some[state] ?? 0) > 0);
        expect(ends).toBe(mayCome && !isBuildHeld && failures <= 1);
      }),
    );
  });
});

describe('the end of a rollout', () => {
  it('waits for deferred collectors, and says until when at the latest', () => {
    const waves = [aWave({ size: 2, state: 'passed' }), aWave({ size: 20, state: 'passed' })];
    const view = aCanary({ succeeded: 1, deferred: 1 }, { waves });
    const done = { ...view, waves: [view.waves[0] ?? aSummary(), aSummary({ succeeded: 20 })] };
    expect(decide(done, now).blockers).toEqual([
      { kind: 'deferred', wave: null, upgrades: 1, known: [], until: startedAt + upToMs },
    ]);
  });
});
