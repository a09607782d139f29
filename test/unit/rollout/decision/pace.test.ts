import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admissionOf } from '../../../../src/rollout/decision/admission.ts';
import { pacedMs, paceOf, paceShareOf, perHourAfter } from '../../../../src/rollout/decision/pace.ts';
import type { PaceRule, Policy } from '../../../../src/rollout/model/policy.ts';
import { aWaveRule, startedAt } from '../../../support/builders.ts';
import { aViewOf } from '../../../support/view-cases.ts';

const now = startedAt;
const hour = 3_600_000;

const even = (perHour: number): PaceRule => ({ perHour, from: perHour, factor: 2, after: 50 });

function view(
  policy: Partial<Policy>,
  {
    pacedForMs = 0,
    queued = 0,
    succeeded = 0,
  }: { pacedForMs?: number; queued?: number; succeeded?: number } = {},
) {
  const pending = Array.from({ length: 5 }, (_, index) => ({ collectorId: index + 1, order: index + 1 }));
  return aViewOf({
    policy: { concurrency: 50, ...policy },
    waves: [{ counts: { queued, succeeded, pending: 50 } }],
    candidates: [{ lane: 0, retries: [], pending }],
    pacedForMs,
  });
}

describe('pace', () => {
  it('starts as many at once as a minute brings, and then names the instant of the next one', () => {
    const first = admissionOf(view({ pace: even(240) }), now);
    expect(first.picks).toHaveLength(4);
    const { paceMs = 0 } = paceShareOf(view({ pace: even(240) }));
    const then = admissionOf(view({ pace: even(240) }, { pacedForMs: 4 * paceMs }), now);
    expect(then.picks).toEqual([]);
    expect(then.blockers).toEqual([{ kind: 'pace', perHour: 240, wave: null, until: now + paceMs }]);
    expect(then.wakeAt).toBe(now + paceMs);
    expect(admissionOf(view({ pace: even(240) }, { pacedForMs: 3 * paceMs }), now).picks).toHaveLength(1);
  });

  it('counts admitted collectors whose create has not left yet', () => {
    expect(admissionOf(view({ pace: even(240) }, { queued: 4 }), now)).toMatchObject({
      picks: [],
      blockers: [{ kind: 'pace', until: null }],
    });
  });

  it('is that of the open wave before that of the policy, and none in a rollback that ignores windows', () => {
    const waves = [aWaveRule({ pace: even(60) })];
    expect(paceOf(view({ pace: even(240), waves }), now)?.blocker).toMatchObject({
      perHour: 60,
      wave: 'rest',
    });
    const anyTime = aViewOf({ policy: { pace: even(1) }, rollout: { rollback: { anyTime: true } } });
    expect(paceOf(anyTime, now)).toBeUndefined();
    expect(paceShareOf(anyTime)).toEqual({});
    expect(paceOf(view({}), now)).toBeUndefined();
  });

  it('grows with what has succeeded, up to its maximum', () => {
    const ramp = { perHour: 100, from: 20, factor: 2, after: 50 };
    expect([0, 49, 50, 100, 150, 10_000].map((succeeded) => perHourAfter(ramp, succeeded))).toEqual([
      20, 20, 40, 80, 100, 100,
    ]);
    // 50 at 20 an hour, 50 at 40, 50 at 80, the rest at 100.
    const least = 2.5 + 1.25 + 0.625 + 1;
    expect(pacedMs(ramp, { succeeded: 0, starts: 250 }) / hour / least).toBeCloseTo(1, 1);
    expect(pacedMs(ramp, { succeeded: 150, starts: 100 }) / hour).toBeCloseTo(1, 1);
  });

  it('lets no hour have more creates, whenever they leave, and hardly fewer', () => {
    const delays = fc.array(fc.integer({ min: 0, max: 600_000 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), delays, (perHour, delaysMs) => {
        const creates = play(perHour, delaysMs, 1.5 * hour);
        const fullest = Math.max(
          ...creates.map((at) => creates.filter((each) => each >= at && each < at + hour).length),
        );
        expect(fullest).toBeLessThanOrEqual(perHour);
      }),
      { numRuns: 12 },
    );
    for (const perHour of [60, 200])
      for (const delayMs of [0, 15_000])
        expect(play(perHour, [delayMs], 4 * hour).length).toBeGreaterThan(0.96 * 4 * perHour);
  });
});

/** Admits whenever it may. A create leaves with one of these delays after its admission. */
function play(perHour: number, delaysMs: readonly number[], forMs: number): readonly number[] {
  const rule = { pace: even(perHour) };
  const leaving: number[] = [];
  const creates: number[] = [];
  let pacedUntil = 0;
  let turn = 0;
  for (let at = now; at < now + forMs; ) {
    for (const due of leaving.filter((each) => each <= at)) {
      leaving.splice(leaving.indexOf(due), 1);
      creates.push(due);
      pacedUntil = Math.max(pacedUntil, due) + (paceShareOf(view(rule)).paceMs ?? 0);
    }
    const given = view(rule, { pacedForMs: Math.max(0, pacedUntil - at), queued: leaving.length });
    const { picks, wakeAt } = admissionOf(given, at);
    for (const _ of picks) {
      leaving.push(at + (delaysMs[turn % delaysMs.length] ?? 0));
      turn += 1;
    }
    at = Math.max(at + 1, Math.min(wakeAt ?? Number.POSITIVE_INFINITY, ...leaving, at + hour));
  }
  return creates;
}
