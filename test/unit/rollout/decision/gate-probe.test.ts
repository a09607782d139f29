import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterAnswer,
  assessGate,
  evaluateExpectation,
  freshStatus,
  type GateAnswerLike,
  type GateAssessment,
} from '../../../../src/rollout/decision/gate-probe.ts';
import { gateWords, writeGateValue } from '../../../../src/rollout/messages/gates.ts';
import type { Expectation, GateRule } from '../../../../src/rollout/model/policy.ts';
import type { GateAnswers } from '../../../../src/rollout/model/rollout.ts';
import { aPrometheusGate, aWebhookGate } from '../../../support/builders.ts';

const minute = 60_000;
const start = Date.parse('2026-03-02T21:00:00Z');
/** 2 × everyMs + 30 s, for the gates below. */
const freshFor = 150_000;

const good: GateAnswerLike = { kind: 'value', value: 0.998, detail: '0.998 (>= 0.99)' };
const bad: GateAnswerLike = { kind: 'value', value: 0.93, detail: '0.93 (>= 0.99)' };
const refused: GateAnswerLike = { kind: 'error', detail: 'connection refused' };
const says = (verdict: 'pass' | 'hold', detail = ''): GateAnswerLike => ({
  kind: 'verdict',
  verdict,
  detail,
});

/** The assessment with its sentence in the place of its finding. */
function told(assessment: GateAssessment) {
  const { verdict, askAt } = assessment;
  return { verdict, words: gateWords(assessment), askAt };
}

/** Answers that come a minute apart, the first at `start`. */
function afterAnswers(gate: GateRule, answers: readonly GateAnswerLike[], from = freshStatus()): GateAnswers {
  return answers.reduce(
    (standing, answer, index) => afterAnswer(standing, gate, answer, start + index * minute),
    from,
  );
}

/** How the gate is judged right after the last of them. */
function assessAfter(gate: GateRule, answers: readonly GateAnswerLike[]) {
  return told(assessGate(gate, afterAnswers(gate, answers), start + (answers.length - 1) * minute));
}

const times = (count: number, answer: GateAnswerLike) => Array.from({ length: count }, () => answer);

describe('evaluateExpectation', () => {
  it.each<[Expectation['operator'], readonly [boolean, boolean, boolean]]>([
    ['>=', [false, true, true]],
    ['>', [false, false, true]],
    ['<=', [true, true, false]],
    ['<', [true, false, false]],
    ['==', [false, true, false]],
    ['!=', [true, false, true]],
  ])('%s holds below, at and above the value: %j', (operator, expected) => {
    const answers = [0.98, 0.99, 1].map((value) => evaluateExpectation({ operator, value: 0.99 }, value));
    expect(answers).toEqual(expected);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'is met by %s with no operator at all (P14)',
    (value) => {
      const operators = ['>=', '>', '<=', '<', '==', '!='] as const;
      const met = operators.filter((operator) => evaluateExpectation({ operator, value: 0 }, value));
      expect(met).toEqual([]);
    },
  );
});

describe('writeGateValue', () => {
  it.each<[number, Expectation, string]>([
    [0.998, { operator: '>=', value: 0.99 }, '0.998'],
    [0.998765432109, { operator: '>=', value: 0.99 }, '0.998765'],
    [0.98999999999, { operator: '>=', value: 0.99 }, '0.98999999999'],
    [0, { operator: '==', value: 0 }, '0'],
    [123456.789, { operator: '<', value: 5 }, '123457'],
  ])('writes %f, where %j is expected, as %s', (value, expectation, words) => {
    expect(writeGateValue(expectation, value)).toBe(words);
  });

  it('never shows a value on the other side of what is expected', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Expectation['operator']>('>=', '>', '<=', '<', '==', '!='),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom(0, 1e-9, -1e-9, 1e-12),
        (operator, value, off) => {
          const given = value + Math.abs(value) * off;
          fc.pre(Number.isFinite(given));
          const shown = Number(writeGateValue({ operator, value }, given));
          expect(evaluateExpectation({ operator, value }, shown)).toBe(
            evaluateExpectation({ operator, value }, given),
          );
        },
      ),
    );
  });
});

describe('a prometheus gate', () => {
  it('is asked at once when it never was', () => {
    expect(told(assessGate(aPrometheusGate(), freshStatus(), start))).toEqual({
      verdict: 'waiting',
      words: 'prometheus was not asked yet',
      askAt: start,
    });
  });

  it.each([
    ['pass', good, 'prometheus 0.998 >= 0.99'],
    ['fail', bad, 'prometheus 0.93, expected >= 0.99'],
  ] as const)('waits until the answer has been the same for long enough to %s', (verdict, answer, words) => {
    const gate = aPrometheusGate({ forMs: 10 * minute });
    expect(assessAfter(gate, [answer])).toMatchObject({
      verdict: 'waiting',
      words: `${words}, for 0s of 10m`,
    });
    expect(assessAfter(gate, times(5, answer))).toMatchObject({
      verdict: 'waiting',
      words: `${words}, for 4m of 10m`,
    });
    expect(assessAfter(gate, times(10, answer)).verdict).toBe('waiting');
    expect(assessAfter(gate, times(11, answer))).toMatchObject({ verdict, words: `${words}, for 10m` });
  });

  it('neither passes nor fails on what it said before an error', () => {
    expect(assessAfter(aPrometheusGate(), [good, refused])).toMatchObject({
      verdict: 'waiting',
      words: 'prometheus 0.998 >= 0.99, then gave no answer once: connection refused',
    });
    expect(assessAfter(aPrometheusGate(), [bad, refused]).verdict).toBe('waiting');
  });

  it('is inconclusive from the fourth error in a row on, and asked on (P14)', () => {
    expect(assessAfter(aPrometheusGate(), times(3, refused))).toMatchObject({
      verdict: 'waiting',
      words: 'prometheus gave no answer 3 times: connection refused',
    });
    expect(assessAfter(aPrometheusGate(), times(4, refused))).toEqual({
      verdict: 'inconclusive',
      words: 'prometheus gave no answer 4 times: connection refused',
      askAt: start + 4 * minute,
    });
    expect(assessAfter(aPrometheusGate(), [bad, ...times(17, refused)]).verdict).toBe('inconclusive');
  });

  it('counts afresh after four errors', () => {
    const gate = aPrometheusGate({ forMs: 5 * minute });
    const standing = afterAnswers(gate, [good, ...times(4, refused), good]);
    expect(standing).toMatchObject({ verdict: 'met', since: start + 5 * minute, errorsInRow: 0 });
    expect(assessGate(gate, standing, start + 5 * minute).verdict).toBe('waiting');
  });

  it('counts afresh when nobody asked for longer than an answer is fresh', () => {
    const gate = aPrometheusGate({ forMs: minute });
    const first = afterAnswer(freshStatus(), gate, good, start);
    const inTime = afterAnswer(first, gate, good, start + freshFor);
    const tooLate = afterAnswer(first, gate, good, start + freshFor + 1);
    expect(inTime.since).toBe(start);
    expect(tooLate.since).toBe(start + freshFor + 1);
  });

  it('passes only while its answer is fresh, and fails for good', () => {
    const passed = afterAnswers(aPrometheusGate(), [good]);
    expect(assessGate(aPrometheusGate(), passed, start + freshFor).verdict).toBe('pass');
    const stale = told(assessGate(aPrometheusGate(), passed, start + freshFor + 1));
    expect(stale).toMatchObject({
      verdict: 'waiting',
      words: 'prometheus 0.998 >= 0.99, but that is too old to count',
    });
    expect(stale.askAt).toBeLessThan(start + freshFor);
    expect(
      assessGate(aPrometheusGate(), afterAnswers(aPrometheusGate(), [bad]), start + freshFor + 1).verdict,
    ).toBe('fail');
  });

  it('believes another clock that is a little ahead, and asks again after one that is far ahead', () => {
    const standing = afterAnswers(aPrometheusGate(), [good]);
    const slightly = assessGate(aPrometheusGate(), standing, start - 1_000);
    expect(slightly).toMatchObject({ verdict: 'pass', askAt: start + minute });
    const now = start - freshFor - 1;
    expect(assessGate(aPrometheusGate(), standing, now)).toMatchObject({ verdict: 'waiting', askAt: now });
  });

  it('keeps the last value and the last words', () => {
    expect(afterAnswers(aPrometheusGate(), [bad, good])).toEqual({
      askedAt: start + minute,
      watchedSince: start,
      verdict: 'met',
      since: start + minute,
      value: 0.998,
      detail: '0.998 (>= 0.99)',
      errorsInRow: 0,
    });
    expect(afterAnswers(aPrometheusGate(), [good, refused])).toEqual({
      askedAt: start + minute,
      watchedSince: start,
      verdict: 'met',
      since: start,
      value: 0.998,
      detail: 'connection refused',
      errorsInRow: 1,
    });
  });

  it.each<GateAnswerLike>([
    says('pass'),
    { kind: 'value', value: Number.NaN, detail: 'NaN' },
    { kind: 'value', value: Number.POSITIVE_INFINITY, detail: '+Inf' },
  ])('takes an answer of no use for an error: %j', (answer) => {
    const gate = aPrometheusGate({ expect: { operator: '!=', value: 0 } });
    expect(assessAfter(gate, [answer]).verdict).toBe('waiting');
    expect(assessAfter(gate, times(4, answer)).verdict).toBe('inconclusive');
  });
});

describe('a webhook gate', () => {
  it('passes on a pass', () => {
    expect(assessAfter(aWebhookGate(), [says('pass', 'answered 200')])).toEqual({
      verdict: 'pass',
      words: 'webhook answers pass',
      askAt: start + minute,
    });
  });

  it('holds on a hold, with the reason it gives', () => {
    expect(assessAfter(aWebhookGate(), [says('pass'), says('hold', 'change freeze')])).toEqual({
      verdict: 'hold',
      words: 'webhook answers hold: change freeze',
      askAt: start + 2 * minute,
    });
    expect(assessAfter(aWebhookGate(), [says('hold')]).words).toBe('webhook answers hold');
  });

  it('holds on while it is silent, until four errors leave nothing to go by', () => {
    expect(assessAfter(aWebhookGate(), [says('hold', 'change freeze'), refused])).toMatchObject({
      verdict: 'hold',
      words: 'webhook answered hold, then gave no answer once: connection refused',
    });
    expect(assessAfter(aWebhookGate(), [says('hold'), ...times(4, refused)]).verdict).toBe('inconclusive');
    expect(assessAfter(aWebhookGate(), times(3, refused)).verdict).toBe('waiting');
    expect(assessAfter(aWebhookGate(), times(4, refused)).verdict).toBe('inconclusive');
  });

  it('passes only while its word is fresh, and not after an error', () => {
    const standing = afterAnswers(aWebhookGate(), [says('pass')]);
    expect(assessGate(aWebhookGate(), standing, start + freshFor).verdict).toBe('pass');
    expect(assessGate(aWebhookGate(), standing, start + freshFor + 1).verdict).toBe('waiting');
    expect(assessAfter(aWebhookGate(), [says('pass'), refused]).verdict).toBe('waiting');
  });

  it('takes a value for an error', () => {
    expect(assessAfter(aWebhookGate(), [good]).verdict).toBe('waiting');
  });
});

describe('a gate in dry run', () => {
  it.each([
    [[], 'prometheus was not asked yet (dry run)'],
    [[good], 'prometheus 0.998 >= 0.99 (dry run)'],
    [[bad], 'prometheus 0.93, expected >= 0.99 (dry run)'],
    [times(4, refused), 'prometheus gave no answer 4 times: connection refused (dry run)'],
  ])('passes whatever it hears, and shows it: %#', (answers, words) => {
    const gate = aPrometheusGate({ dryRun: true });
    const now = start + Math.max(0, answers.length - 1) * minute;
    expect(told(assessGate(gate, afterAnswers(gate, answers), now))).toMatchObject({
      verdict: 'pass',
      words,
    });
  });
});

describe('any history of a gate (P14)', () => {
  const anAnswer = fc.constantFrom<GateAnswerLike>(
    good,
    bad,
    refused,
    says('pass'),
    says('hold', 'change freeze'),
  );
  const history = fc.array(fc.record({ answer: anAnswer, waitMs: fc.integer({ min: 0, max: 5 * minute }) }), {
    minLength: 1,
    maxLength: 40,
  });
  const anyGate = fc.oneof(
    fc.constant(aWebhookGate()),
    fc.integer({ min: 0, max: 5 }).map((minutes) => aPrometheusGate({ forMs: minutes * minute })),
  );

  /** The standing after each answer, and when it came. */
  function play(gate: GateRule, answers: ReadonlyArray<{ answer: GateAnswerLike; waitMs: number }>) {
    let standing = freshStatus();
    let at = start;
    return answers.map(({ answer, waitMs }) => {
      at += waitMs;
      standing = afterAnswer(standing, gate, answer, at);
      return { answer, at, standing };
    });
  }

  it('never passes, and never fails, on an error', () => {
    fc.assert(
      fc.property(anyGate, history, (gate, answers) => {
        for (const { answer, at, standing } of play(gate, answers)) {
          const { verdict } = assessGate(gate, standing, at);
          if (answer.kind === 'error') expect(['waiting', 'hold', 'inconclusive']).toContain(verdict);
        }
      }),
    );
  });

  it('is inconclusive after four errors, whatever came before, and after fewer it is not', () => {
    fc.assert(
      fc.property(anyGate, history, fc.integer({ min: 1, max: 8 }), (gate, before, errors) => {
        const heard = { answer: gate.kind === 'webhook' ? says('pass') : bad, waitMs: minute };
        const silence = times(errors, refused).map((answer) => ({ answer, waitMs: minute }));
        const last = play(gate, [...before, heard, ...silence]).at(-1);
        if (last === undefined) throw new Error('nothing was played');
        const { verdict } = assessGate(gate, last.standing, last.at);
        expect(verdict === 'inconclusive').toBe(errors >= 4);
      }),
    );
  });

  it('passes only with good answers, never far apart, over all of the time asked for', () => {
    let passes = 0;
    const mostlyGood = fc.array(
      fc.record({
        answer: fc.oneof(
          { weight: 8, arbitrary: fc.constant(good) },
          { weight: 1, arbitrary: fc.constantFrom(bad, refused) },
        ),
        waitMs: fc.oneof(
          { weight: 8, arbitrary: fc.integer({ min: 0, max: 2 * minute }) },
          { weight: 1, arbitrary: fc.integer({ min: 0, max: 6 * minute }) },
        ),
      }),
      { minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5 * minute }),
        mostlyGood,
        fc.integer({ min: 0, max: 4 * minute }),
        (forMs, answers, laterMs) => {
          const gate = aPrometheusGate({ forMs });
          const played = play(gate, answers);
          const last = played.at(-1);
          if (last === undefined) throw new Error('nothing was played');
          if (assessGate(gate, last.standing, last.at + laterMs).verdict !== 'pass') return;
          passes++;
          expect(laterMs).toBeLessThanOrEqual(freshFor);
          const from = played.findLastIndex(({ answer, at }) => answer === good && at <= last.at - forMs);
          expect(from).toBeGreaterThanOrEqual(0);
          const proof = played.slice(from);
          expect(proof.map(({ answer }) => answer)).not.toContain(bad);
          const gaps = proof.slice(1).map(({ at }, index) => at - (proof[index]?.at ?? 0));
          expect(Math.max(0, ...gaps)).toBeLessThanOrEqual(freshFor);
        },
      ),
      { numRuns: 1_000 },
    );
    expect(passes).toBeGreaterThan(100);
  });

  it('never passes and never fails while it flaps faster than the time asked for', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 30 }),
        fc.boolean(),
        (runs, startsGood) => {
          const gate = aPrometheusGate({ forMs: 2 * minute });
          const answers = runs.flatMap((length, index) =>
            times(length, (index % 2 === 0) === startsGood ? good : bad),
          );
          const verdicts = answers.map((_, index) => assessAfter(gate, answers.slice(0, index + 1)).verdict);
          expect(new Set(verdicts)).toEqual(new Set(['waiting']));
        },
      ),
    );
  });

  it('survives being written as JSON at any point', () => {
    fc.assert(
      fc.property(anyGate, history, (gate, answers) => {
        for (const { standing } of play(gate, answers)) {
          expect(JSON.parse(JSON.stringify(standing))).toEqual(standing);
        }
      }),
    );
  });
});
