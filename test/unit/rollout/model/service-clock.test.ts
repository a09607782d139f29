import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readServiceTime, unknownServiceClock } from '../../../../src/rollout/model/service-clock.ts';

const seconds = 1_000;
const minutes = 60 * seconds;
const t = Date.UTC(2026, 2, 2, 12);

interface Answer {
  /** When it is there, by our clock, since the beginning. */
  readonly at: number;
  /** How far its `Date` is off what the service's clock says. */
  readonly off?: number;
  readonly tookMs?: number;
}

/** What is taken for the service's time of each answer: its `Date`, or null. */
function judge(
  answers: readonly Answer[],
  { speed = 1, ahead = 0 }: { readonly speed?: number; readonly ahead?: number } = {},
): readonly (number | null)[] {
  let clock = unknownServiceClock;
  return answers.map(({ at, off = 0, tookMs = 40 }) => {
    const serviceAt = t + ahead + (at - tookMs / 2) * speed + off;
    const dateAt = Math.floor(serviceAt / seconds) * seconds;
    const judged = readServiceTime(clock, { sentAt: t + at - tookMs, answeredAt: t + at, dateAt });
    clock = judged.clock;
    if (judged.serviceAt !== null) expect(judged.serviceAt).toBe(dateAt);
    return judged.serviceAt;
  });
}

const isKnown = (times: readonly (number | null)[]): readonly boolean[] => times.map((at) => at !== null);
const every = (spacingMs: number, count: number, from = 0): readonly Answer[] =>
  Array.from({ length: count }, (_, index) => ({ at: from + index * spacingMs }));

describe('the service time of an answer', () => {
  it('is never taken from a cache that always sends the same Date', () => {
    const answers = every(5 * seconds, 10).concat(
      every(5 * seconds, 100, 50 * seconds).map(({ at }) => ({ at, off: -(at - 30 * seconds) })),
    );
    expect(isKnown(judge(answers)).slice(10)).not.toContain(true);
  });

  it('is unknown at first where the clocks differ by more than 2 minutes, and known after 30 s', () => {
    const known = isKnown(judge(every(5 * seconds, 10), { ahead: 3 * 60 * minutes }));
    expect(known.slice(0, 6)).not.toContain(true);
    expect(known.slice(6)).not.toContain(false);
  });

  it.each([20, 100, 300])(
    'is known within 2 s of a service whose clock is %i times as fast and hours ahead, and stays known over pauses',
    (speed) => {
      const answers = [
        ...every(60, 40),
        ...every(20 * seconds, 5, 10 * seconds),
        ...every(60, 5, 5 * minutes),
      ];
      const known = isKnown(judge(answers, { speed, ahead: 5 * 60 * minutes }));
      expect(known.slice(34)).not.toContain(false);
    },
  );

  it('is never off by more than a few seconds when single answers have a wrong clock, at any speed', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 20, 100, 300),
        fc.array(
          fc.record({
            gap: fc.integer({ min: 20, max: 20 * seconds }),
            off: fc.oneof(
              { weight: 4, arbitrary: fc.constant(0) },
              { weight: 1, arbitrary: fc.integer({ min: -60 * minutes, max: 60 * minutes }) },
            ),
          }),
          { minLength: 20, maxLength: 80 },
        ),
        (speed, steps) => {
          let at = 0;
          let doubtful = 0;
          const answers = steps.map(({ gap, off }, index) => {
            at += gap;
            // Never more than two in a row, and none while the clock is learned.
            doubtful = off === 0 || index < 10 ? 0 : doubtful + 1;
            return { at, tookMs: 10, off: doubtful > 0 && doubtful <= 2 ? off : 0 };
          });
          const times = judge([...every(60, 40, -5 * seconds), ...answers], { speed }).slice(40);
          for (const [index, { off }] of answers.entries()) {
            if (off === 0) expect(times[index]).not.toBeNull();
            else if (times[index] !== null) expect(Math.abs(off)).toBeLessThan(30 * seconds + speed * 300);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
