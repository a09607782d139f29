import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holdsSlot, isOnBuild, type Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { explainUpgrade } from '../../../../src/rollout/status/explain.ts';
import { evolve, nextStep } from '../../../../src/rollout/upgrade/evolve.ts';
import type { CollectorObservation, UpgradeFact } from '../../../../src/rollout/upgrade/facts.ts';
import type { ServiceFailure } from '../../../../src/rollout/upgrade/failure-classes.ts';
import {
  aContext,
  anUpgrade,
  aPolicy,
  aView,
  oldBuild,
  startedAt as t,
  targetBuild,
} from '../../../support/builders.ts';
import { lossless } from '../../../support/lossless.ts';

const starting = anUpgrade({ state: 'starting', sentAt: t, dueAt: t, startBy: t - 1 });

/** Each fact to a record that was stored and read back in between, as after a kill. */
function apply(upgrade: Upgrade, ...facts: readonly UpgradeFact[]): Upgrade {
  return facts.reduce((current, fact) => lossless(evolve(current, fact, aContext())), upgrade);
}

const refused = (code: string): UpgradeFact => ({
  kind: 'createFailed',
  at: t,
  failure: { kind: 'refused', code, detail: 'no' },
});
const failed = (failure: ServiceFailure): UpgradeFact => ({ kind: 'createFailed', at: t, failure });
const seen = (changes: Partial<CollectorObservation>): UpgradeFact => ({
  kind: 'collectorSeen',
  at: t + 1_000,
  build: oldBuild,
  alive: true,
  lastSeenAlive: t,
  serviceAt: t,
  upgradable: null,
  ...changes,
});
const seenGone: UpgradeFact = {
  kind: 'pollFailed',
  at: t,
  of: 'collector',
  failure: { kind: 'notFound', detail: '' },
  isGone: true,
};
const buildsSeen = (stillOffered: boolean): UpgradeFact => ({ kind: 'buildsSeen', at: t, stillOffered });
const observe = { do: 'pollCollector', why: 'refused', askUpgradable: false };

describe('a create that is refused with collector.version.invalid', () => {
  const pending = apply(starting, refused('collector.version.invalid'));

  it('is settled by observing the collector first, from its record, whatever its window says', () => {
    expect(pending).toMatchObject({
      progress: { state: 'queued', refused: { of: 'version' } },
      tally: { attempts: 0, createsInDoubt: 0 },
    });
    expect(nextStep(pending, t)).toEqual(observe);
    expect(holdsSlot(pending.progress.state)).toBe(true);
  });

  it('withdraws a collector that runs the build already: no failure of the wave, and evidence for its soak', () => {
    const withdrawn = apply(pending, seen({ build: targetBuild }));
    expect(withdrawn).toMatchObject({
      progress: { state: 'withdrawn', reason: { kind: 'onBuild' }, weight: 0 },
    });
    expect(isOnBuild(withdrawn)).toBe(true);
  });

  it.each([
    ['is not alive', { alive: false }],
    ['is silent', { lastSeenAlive: t - 10 * 60_000 }],
    ['has no service time to compare its heartbeat with', { serviceAt: null }],
  ])('is polled again while the collector, on the build, %s: it may restart (P14)', (_case, changes) => {
    const restarting = seen({ build: targetBuild, ...changes });
    const waiting = apply(pending, restarting, restarting);
    expect(waiting).toMatchObject({
      progress: { state: 'queued', refused: { of: 'version' } },
      tally: { failedPolls: 2 },
    });
    expect(waiting.progress.state === 'queued' && waiting.progress.dueAt).toBeGreaterThan(t);
    expect(isOnBuild(apply(waiting, seen({ build: targetBuild })))).toBe(true);
    const givenUp = apply(pending, ...Array.from({ length: 7 }, () => restarting));
    expect(givenUp).toMatchObject({
      progress: { state: 'withdrawn', reason: { kind: 'onBuild' }, weight: 0 },
    });
    expect(isOnBuild(givenUp)).toBe(false);
  });

  it('verifies the build where a create of ours may have brought it (P10)', () => {
    for (const before of [
      { ...starting, tally: { ...starting.tally, createsInDoubt: 1 } },
      { ...starting, tally: { ...starting.tally, attempts: 1 } },
    ]) {
      const after = apply(before, refused('collector.version.invalid'), seen({ build: targetBuild }));
      expect(after).toMatchObject({ progress: { state: 'verifying', late: true } });
    }
  });

  it('asks for the builds on offer only when the collector runs another one', () => {
    const observed = apply(pending, seen({}));
    expect(nextStep(observed, t + 1_000)).toEqual({ do: 'askBuilds' });
    expect(apply(observed, buildsSeen(true))).toMatchObject({
      progress: {
        state: 'failed',
        failureClass: 'permanent',
        reason: { kind: 'buildRefused', detail: expect.stringContaining('collector.version.invalid: no') },
      },
    });
    expect(apply(observed, buildsSeen(false))).toMatchObject({
      progress: { state: 'pending' },
      tally: { attempts: 0 },
    });
  });

  it('is not judged by the builds on offer before the collector was observed', () => {
    expect(evolve(pending, buildsSeen(true), aContext())).toBe(pending);
  });

  it('is explained', () => {
    expect(explainUpgrade(aView(), pending, t).reason).toMatch(
      /^the service refused its upgrade.*collector\.version\.invalid/,
    );
  });
});

describe('a create that is refused since the collector is unknown', () => {
  const failures: readonly ServiceFailure[] = [
    { kind: 'refused', code: 'collector.invalid', detail: '' },
    { kind: 'refused', code: 'InvalidCollector', detail: '' },
    { kind: 'notFound', detail: '' },
    { kind: 'notFound', code: 'InvalidCollector', detail: '' },
  ];

  it.each(failures)('is settled by observation, %o: gone is withdrawn', (failure) => {
    const pending = apply(starting, failed(failure));
    expect(nextStep(pending, t)).toEqual(observe);
    expect(apply(pending, seenGone)).toMatchObject({ progress: { state: 'withdrawn', weight: 0 } });
  });

  it('is no create in doubt: a collector that is there is tried again, not adopted (P1)', () => {
    const there = apply(starting, refused('collector.invalid'), seen({ upgradable: false }));
    expect(there).toMatchObject({
      progress: { state: 'retrying' },
      tally: { attempts: 1, createsInDoubt: 0 },
    });
    const context = aContext({ policy: aPolicy({ retry: { ...aPolicy().retry, maxAttempts: 1 } }) });
    const pending = evolve(starting, refused('collector.invalid'), context);
    expect(evolve(pending, seen({}), context)).toMatchObject({
      progress: { state: 'failed', failureClass: 'retry' },
    });
  });
});

describe('no refusal that a person’s action explains', () => {
  const codes = [
    'collector.version.invalid',
    'collector.invalid',
    'collector.not.alive',
    'collector.in.upgrading',
    'InvalidCollector',
  ];
  const acts = fc.constantFrom<UpgradeFact>(seen({ build: targetBuild }), seenGone);

  it('is counted as a failure, whatever the person did and however often nothing was learned', () => {
    const nothingLearned = fc.array(fc.constant('unavailable' as const), { maxLength: 3 });
    fc.assert(
      fc.property(fc.constantFrom(...codes), nothingLearned, acts, (code, failedPolls, act) => {
        let upgrade = apply(starting, refused(code));
        for (const kind of failedPolls)
          upgrade = apply(upgrade, {
            kind: 'pollFailed',
            at: t,
            of: 'collector',
            failure: { kind, sent: true, detail: '' },
          });
        expect(apply(upgrade, act).progress).toMatchObject(
          act === seenGone
            ? { state: 'withdrawn', weight: 0 }
            : { state: expect.stringMatching(/^(withdrawn|verifying)$/) },
        );
      }),
    );
  });
});
