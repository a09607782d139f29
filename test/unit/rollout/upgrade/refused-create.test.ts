import { describe, expect, it } from 'vitest';
import { holdsSlot, isOnBuild } from '../../../../src/rollout/model/upgrade.ts';
import { explainUpgrade } from '../../../../src/rollout/status/explain.ts';
import { evolve, nextStep } from '../../../../src/rollout/upgrade/evolve.ts';
import type { UpgradeFact } from '../../../../src/rollout/upgrade/facts.ts';
import type { ServiceFailure } from '../../../../src/rollout/upgrade/failure-classes.ts';
import { aContext, aPolicy, aView, startedAt as t, targetBuild } from '../../../support/builders.ts';
import {
  afterFacts,
  aStartingOne,
  createFailed,
  createRefused,
  collectorSeen as seen,
} from '../../../support/upgrade-cases.ts';

const starting = aStartingOne({ startBy: t - 1 });
const seenGone: UpgradeFact = {
  ...{ kind: 'pollFailed', at: t, of: 'collector', isGone: true },
  failure: { kind: 'notFound', detail: '' },
};
const buildsSeen = (stillOffered: boolean): UpgradeFact => ({ kind: 'buildsSeen', at: t, stillOffered });
const observe = { do: 'pollCollector', why: 'refused', askUpgradable: false };

describe('a create that is refused with collector.version.invalid', () => {
  const refused = createRefused('collector.version.invalid');
  const pending = afterFacts(starting, refused);

  it('observes the collector first, as its record says, whatever its window', () => {
    expect(pending).toMatchObject({
      progress: { state: 'queued', refused: { of: 'version' } },
      tally: { attempts: 0, createsInDoubt: 0 },
    });
    // As after a kill: the record carries all of it.
    expect(JSON.parse(JSON.stringify(pending))).toEqual(pending);
    expect(nextStep(pending, t)).toEqual(observe);
    expect(holdsSlot(pending.progress.state)).toBe(true);
    expect(explainUpgrade(aView(), pending, t).reason).toMatch(
      /^the service refused its upgrade.*collector\.version\.invalid/,
    );
  });

  const onBuild = { progress: { state: 'withdrawn', reason: { kind: 'onBuild' }, weight: 0 } };

  it.each([
    ['is not alive', { alive: false }],
    ['is silent', { lastSeenAlive: t - 10 * 60_000 }],
    ['has no service time to compare its heartbeat with', { serviceAt: null }],
  ])('is polled again while the collector, on the build, %s: it may restart (P14)', (_case, changes) => {
    const restarting = seen({ build: targetBuild, ...changes });
    const waiting = afterFacts(pending, restarting, restarting);
    expect(waiting).toMatchObject({
      progress: { state: 'queued', refused: { of: 'version' } },
      tally: { failedPolls: 2 },
    });
    expect(waiting.progress.state === 'queued' && waiting.progress.dueAt).toBeGreaterThan(t);
    expect(isOnBuild(afterFacts(waiting, seen({ build: targetBuild })))).toBe(true);
    const givenUp = afterFacts(pending, ...Array.from({ length: 7 }, () => restarting));
    expect(givenUp).toMatchObject(onBuild);
    expect(isOnBuild(givenUp)).toBe(false);
  });

  it.each([{ createsInDoubt: 1 }, { attempts: 1 }])(
    'verifies the build where %o may have brought it (P10)',
    (tally) => {
      const before = aStartingOne({}, tally);
      expect(afterFacts(before, refused, seen({ build: targetBuild }))).toMatchObject({
        progress: { state: 'verifying', late: true },
      });
    },
  );

  it('asks for the builds on offer only once the collector was observed on another build', () => {
    expect(afterFacts(pending, buildsSeen(true))).toBe(pending);
    const observed = afterFacts(pending, seen());
    expect(nextStep(observed, t + 1_000)).toEqual({ do: 'askBuilds' });
    expect(afterFacts(observed, buildsSeen(true))).toMatchObject({
      progress: {
        state: 'failed',
        failureClass: 'permanent',
        reason: { kind: 'buildRefused', detail: expect.stringContaining('collector.version.invalid: no') },
      },
    });
    expect(afterFacts(observed, buildsSeen(false))).toMatchObject({
      progress: { state: 'pending' },
      tally: { attempts: 0 },
    });
  });
});

describe('a create that is refused because the collector is unknown', () => {
  it.each<ServiceFailure>([
    { kind: 'refused', code: 'collector.invalid', detail: '' },
    { kind: 'notFound', detail: '' },
    { kind: 'notFound', code: 'InvalidCollector', detail: '' },
  ])('observes the collector first, %o, and withdraws it when it is gone', (failure) => {
    const pending = afterFacts(starting, createFailed(failure));
    expect(nextStep(pending, t)).toEqual(observe);
    expect(afterFacts(pending, seenGone)).toMatchObject({ progress: { state: 'withdrawn', weight: 0 } });
  });

  it('is no create in doubt: a collector that exists is retried, and not adopted (P1)', () => {
    const refused = createRefused('collector.invalid');
    expect(afterFacts(starting, refused, seen({ upgradable: false }))).toMatchObject({
      progress: { state: 'retrying' },
      tally: { attempts: 1, createsInDoubt: 0 },
    });
    const context = aContext({ policy: aPolicy({ retry: { ...aPolicy().retry, maxAttempts: 1 } }) });
    expect(evolve(evolve(starting, refused, context), seen(), context)).toMatchObject({
      progress: { state: 'failed', failureClass: 'retry' },
    });
  });
});

describe('a refusal that is explained by what a person did', () => {
  const unanswered: UpgradeFact = {
    ...{ kind: 'pollFailed', at: t, of: 'collector' },
    failure: { kind: 'unavailable', sent: true, detail: '' },
  };

  it.each([
    ...['collector.version.invalid', 'collector.invalid', 'InvalidCollector'],
    ...['collector.not.alive', 'collector.in.upgrading'],
  ])('is no failure, however many polls fail: %s', (code) => {
    for (const failedPolls of [[], [unanswered, unanswered, unanswered]]) {
      const refused = afterFacts(starting, createRefused(code), ...failedPolls);
      expect(afterFacts(refused, seenGone).progress).toMatchObject({ state: 'withdrawn', weight: 0 });
      const { state } = afterFacts(refused, seen({ build: targetBuild })).progress;
      expect(state).toMatch(/^(withdrawn|verifying)$/);
    }
  });
});
