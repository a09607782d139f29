import { describe, expect, it } from 'vitest';
import { isEnd, type Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { isQuestionable } from '../../../../src/rollout/upgrade/evolve.ts';
import type { ServiceFailure } from '../../../../src/rollout/upgrade/failure-classes.ts';
import { anUpgradingOne, aPolicy, startedAt as t } from '../../../support/builders.ts';
import {
  aDeferredOne,
  afterFacts,
  aQueuedOne,
  aRetryingOne,
  aStartingOne,
  aVerifyingOne,
} from '../../../support/upgrade-cases.ts';

const minutes = 60_000;
const hours = 60 * minutes;

const refused: ServiceFailure = { kind: 'refused', code: 'who.knows', status: 410, detail: 'gone' };
const unavailable: ServiceFailure = { kind: 'unavailable', sent: true, detail: 'HTTP 500' };
const throttled: ServiceFailure = { kind: 'throttled', detail: '429' };
const misconfigured: ServiceFailure = { kind: 'misconfigured', detail: '403' };

const queued = aQueuedOne({ freshAt: 0 });
const starting = aStartingOne();
const adopted = anUpgradingOne({ taskId: null, dueAt: t });
const verifying = aVerifyingOne();
const deferred = aDeferredOne();

interface Answers {
  readonly failure: ServiceFailure;
  readonly of?: 'task' | 'collector';
  readonly othersAnswered?: boolean;
}

// One each five seconds is more often than anything is polled.
const pollsMax = 14 * 24 * 60 * 12;

/** Polls when it is due, until it ends, waits for its turn, or two weeks are over. */
function pollOn(from: Upgrade, answersAt: (at: number) => Answers) {
  let upgrade = from;
  let at = t;
  for (let polls = 0; at < t + 14 * 24 * hours && !isEnd(upgrade.progress.state); polls += 1) {
    if (polls > pollsMax) throw new Error('its next poll never comes later');
    const { of = 'collector', ...answers } = answersAt(at);
    upgrade = afterFacts(upgrade, { kind: 'pollFailed', at, of, ...answers });
    if ('dueAt' in upgrade.progress) at = Math.max(at, upgrade.progress.dueAt);
    if (from.progress.state !== 'deferred' && upgrade.progress.state === 'deferred') break;
  }
  return { upgrade, afterMs: at - t };
}

describe('an upgrade whose polls are always refused (P9)', () => {
  it.each([
    ['in doubt', starting, 'timedOut', 35 * minutes],
    ['adopted', adopted, 'timedOut', 35 * minutes],
    ['verifying', verifying, 'unconfirmed', 10 * minutes],
    ['deferred', deferred, 'withdrawn', 12 * hours],
  ] as const)('ends when its time is up: %s', (_what, from, state, withinMs) => {
    const { upgrade, afterMs } = pollOn(from, () => ({ failure: refused }));
    expect(upgrade).toMatchObject({
      progress: { state, lost: false, weight: state === 'withdrawn' ? 0 : 1 },
    });
    expect(upgrade).toHaveProperty('progress.reason.detail', 'who.knows: gone');
    expect(afterMs).toBeGreaterThanOrEqual(withinMs);
    expect(afterMs).toBeLessThan(withinMs + 2 * minutes);
  });

  it('frees its slot when it waits for its create', () => {
    const { upgrade, afterMs } = pollOn(queued, () => ({ failure: refused }));
    expect(upgrade).toMatchObject({ progress: { state: 'deferred', condition: 'notAlive' } });
    expect(afterMs).toBeLessThan(5 * minutes);
  });

  it('has its collector polled when its task cannot be polled', () => {
    const asked = pollOn(anUpgradingOne({ dueAt: t }), (at) => ({
      failure: refused,
      of: at < t + 35 * minutes ? 'task' : 'collector',
    }));
    expect(asked.upgrade.progress.state).toBe('timedOut');
    const last = { kind: 'pollFailed', at: t + 35 * minutes, of: 'task', failure: refused } as const;
    expect(afterFacts(anUpgradingOne(), last)).toMatchObject({
      progress: { state: 'upgrading', ending: { kind: 'deadline' } },
    });
  });
});

describe('an upgrade whose polls get no answer', () => {
  const alone = { failure: unavailable, othersAnswered: true };
  const withAll = { failure: unavailable, othersAnswered: false };

  it.each([
    ['in doubt', starting],
    ['adopted', adopted],
    ['verifying', verifying],
    ['deferred', deferred],
  ] as const)(
    'ends a day after its time, when the service answers others all the while: %s',
    (_what, from) => {
      const { upgrade, afterMs } = pollOn(from, () => alone);
      expect(isEnd(upgrade.progress.state)).toBe(true);
      expect(afterMs).toBeGreaterThan(24 * hours);
      expect(afterMs).toBeLessThan(37 * hours);
    },
  );

  it.each([
    ['that is down for two weeks', () => withAll],
    ['that answers others only now and then', (at: number) => (at % (5 * hours) < hours ? withAll : alone)],
    ['that throttles', () => ({ failure: throttled })],
  ] as const)('is never ended by a service %s (P13)', (_what, answersAt) => {
    for (const from of [starting, adopted, verifying, deferred])
      expect(isEnd(pollOn(from, answersAt).upgrade.progress.state), from.progress.state).toBe(false);
  });

  it('is ended despite throttled polls in between', () => {
    const { upgrade } = pollOn(starting, (at) => (at % (5 * hours) < hours ? { failure: throttled } : alone));
    expect(upgrade.progress.state).toBe('timedOut');
  });
});

describe('whether a poll without an answer is questionable', () => {
  const is = (upgrade: Upgrade, failure: ServiceFailure, at: number) =>
    isQuestionable(upgrade, failure, at, aPolicy());

  it('is true once its time is up, and only when there was no answer', () => {
    expect(is(adopted, unavailable, t + 35 * minutes - 1)).toBe(false);
    expect(is(adopted, unavailable, t + 35 * minutes)).toBe(true);
    expect(is(aQueuedOne({}, { failedPolls: 2 }), unavailable, t)).toBe(false);
    expect(is(aQueuedOne({}, { failedPolls: 3 }), unavailable, t)).toBe(true);
    for (const failure of [refused, throttled, misconfigured])
      expect(is(adopted, failure, t + 35 * minutes)).toBe(false);
    expect(is(aRetryingOne(), unavailable, t)).toBe(false);
  });
});
