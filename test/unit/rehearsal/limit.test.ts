import { describe, expect, it } from 'vitest';
import { isMet, LimitError, parseLimit } from '../../../src/rehearsal/result/limit.ts';
import { summarizeSeeds } from '../../../src/rehearsal/result/rehearsal.ts';
import { aSeedResult } from '../../support/builders/rehearsal-builders.ts';
import { startedAt } from '../../support/builders.ts';

const hour = 3_600_000;

/** Twenty rollouts that harm 0 to 19 collectors, of which each second is held, and the last takes ten hours. */
const twenty = summarizeSeeds(
  Array.from({ length: 20 }, (_, index) =>
    aSeedResult({
      harmed: index,
      othersDone: 100 - index,
      tookMs: index === 19 ? 10 * hour : hour,
      state: index % 2 === 0 ? 'succeeded' : 'held',
    }),
  ),
  startedAt,
);

describe('a condition under which a rehearsal fails', () => {
  it.each([
    ['harmed.median > 9', false],
    ['harmed.median >= 9', true],
    ['harmed.p95 > 17', true],
    ['harmed.p95>18', false],
    ['harmed.worst > 18', true],
    ['othersDone.p95 < 83%', true],
    ['othersDone.best < 100', false],
    ['held > 49', true],
    ['held > 50', false],
    ['took.p95 > 2h', false],
    ['took.worst > 2h', true],
    ['end.worst > 06:00', true],
    ['end.worst > 07:30', false],
    ['requests.median > 500', false],
  ])('%s is %s', (text, expected) => {
    expect(isMet(parseLimit(text), twenty, 'UTC')).toBe(expected);
  });

  it.each([
    ['harmed', 'is not a condition; write one such as "harmed.p95 > 5" or "end.p95 > 06:00"'],
    ['harmed > 5', 'a figure is missing; there are best, p5, median, p95, worst'],
    ['harmd.p95 > 5', '"harmd" is unknown; did you mean "harmed"?'],
    ['harmed.p99 > 5', '"p99" is unknown; did you mean "p95"?'],
    ['held.p95 > 5', 'held has no figure; write "held > 10"'],
    ['took.p95 > 06:00', '"06:00" is not a value of took; write a duration such as 8h'],
    ['end.p95 > 8h', '"8h" is not a value of end; write a time of day such as 06:00'],
    ['harmed.p95 > few', '"few" is not a value of harmed; write a number'],
  ])('%s is refused, with what is wrong', (text, words) => {
    expect(() => parseLimit(text)).toThrow(LimitError);
    expect(() => parseLimit(text)).toThrow(words);
  });
});
