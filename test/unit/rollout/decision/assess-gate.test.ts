import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterAnswer,
  assessGate,
  freshStatus,
  type GateAnswer,
  type GateAssessment,
  gateSamplesMax,
  isCounted,
} from '../../../../src/rollout/decision/assess-gate.ts';
import { gateText, writeGateValue } from '../../../../src/rollout/messages/gates.ts';
import { type Expectation, evaluateExpectation } from '../../../../src/rollout/model/expectation.ts';
import type { GateAnswers } from '../../../../src/rollout/model/gate-answers.ts';
import type { GateRule } from '../../../../src/rollout/model/policy.ts';
import {
  aDataFlowGate,
  aPrometheusGate,
  aStatus,
  aWebhookGate,
} from '../../../support/builders/gate-builders.ts';

const minute = 60_000;
const start = Date.parse('2026-03-02T21:00:00Z');
/** 2 × everyMs + 30 s, for the gates below. */
const freshFor = 150_000;

const good: GateAnswer = { kind: 'value', value: 0.998, detail: '0.998 (>= 0.99)' };
const bad: GateAnswer = { kind: 'value', value: 0.93, detail: '0.93 (>= 0.99)' };
const refused: GateAnswer = { kind: 'error', detail: 'connection refused' };
const says = (verdict: 'pass' | 'hold', detail = ''): GateAnswer => ({
  kind: 'verdict',
  verdict,
  detail,
});

/** The assessment with its sentence in the place of its finding. */
function asText(assessment: GateAssessment) {
  const { verdict, askAt } = assessment;
  return { verdict, words: gateText(assessment), askAt };
}

/** Answers that come a minute apart, the first at `start`. */
function afterAnswers(gate: GateRule, answers: readonly GateAnswer[], from = freshStatus()): GateAnswers {
  return answers.reduce(
    (standing, answer, index) => afterAnswer(standing, gate, answer, start + index * minute),
    from,
  );
}

const times = (count: number, answer: GateAnswer) => Array.from({ length: count }, () => answer);

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

const asked = aPrometheusGate();
const patient = aPrometheusGate({ forMs: 10 * minute });
const hook = aWebhookGate();
const dry = aPrometheusGate({ dryRun: true });
const unequal = aPrometheusGate({ expect: { operator: '!=', value: 0 } });
const freeze = says('hold', 'change freeze');
const noNumber: GateAnswer = { kind: 'value', value: Number.NaN, detail: 'NaN' };

describe('a gate', () => {
  const unmet = '0.93, expected >= 0.99';
  const unanswered = (often: string) => `gave no answer ${often}: connection refused`;
  const thenSilent = `then ${unanswered('once')}`;

  // Its words without the name of the gate.
  it.each<[string, GateRule, readonly GateAnswer[], GateAssessment['verdict'], string?]>([
    ['is asked when it never was', asked, [], 'waiting', 'has not been asked yet'],
    ['waits until it is met for long enough', patient, [good], 'waiting', '0.998 >= 0.99, for 0s of 10m'],
    ['counts that time', patient, times(5, good), 'waiting', '0.998 >= 0.99, for 4m of 10m'],
    ['passes then', patient, times(11, good), 'pass', '0.998 >= 0.99, for 10m'],
    ['does not fail a moment before', patient, times(10, bad), 'waiting'],
    ['fails then', patient, times(11, bad), 'fail', `${unmet}, for 10m`],
    ['waits after an error', asked, [good, refused], 'waiting', `0.998 >= 0.99, ${thenSilent}`],
    ['waits over three errors', asked, times(3, refused), 'waiting', unanswered('3 times')],
    ['is inconclusive at the fourth (P14)', asked, times(4, refused), 'inconclusive', unanswered('4 times')],
    ['treats a verdict as an error', unequal, [says('pass')], 'waiting'],
    ['treats a value that is not a number as an error', unequal, [noNumber], 'waiting'],
    ['passes on a pass', hook, [says('pass', 'answered 200')], 'pass', 'answers pass'],
    ['holds on a hold', hook, [says('pass'), freeze], 'hold', 'answers hold: change freeze'],
    ['holds without a reason, too', hook, [says('hold')], 'hold', 'answers hold'],
    [
      'keeps holding while there is no answer',
      hook,
      [freeze, refused],
      'hold',
      `answered hold, ${thenSilent}`,
    ],
    ['treats the value of a webhook as an error', hook, [good], 'waiting'],
    ['passes in a dry run, not met', dry, [bad], 'pass', `${unmet} (dry run)`],
    [
      'passes in a dry run, without an answer',
      dry,
      times(4, refused),
      'pass',
      `${unanswered('4 times')} (dry run)`,
    ],
  ])('%s, and is asked again after its interval', (_what, gate, answers, verdict, words) => {
    const now = start + Math.max(0, answers.length - 1) * minute;
    const assessment = asText(assessGate(gate, afterAnswers(gate, answers), now));
    expect(assessment).toMatchObject({ verdict, askAt: start + answers.length * minute });
    if (words !== undefined) expect(assessment.words).toBe(`${gate.name} ${words}`);
  });

  it('restarts its time after four errors, and after a gap that is longer than an answer is fresh', () => {
    const gate = aPrometheusGate({ forMs: 5 * minute });
    const standing = afterAnswers(gate, [good, ...times(4, refused), good]);
    expect(standing).toMatchObject({ verdict: 'met', since: start + 5 * minute, errorsInRow: 0 });
    expect(assessGate(gate, standing, start + 5 * minute).verdict).toBe('waiting');
    const first = afterAnswer(freshStatus(), gate, good, start);
    expect(afterAnswer(first, gate, good, start + freshFor).since).toBe(start);
    expect(afterAnswer(first, gate, good, start + freshFor + 1).since).toBe(start + freshFor + 1);
  });

  it('passes only while its answer is fresh, and fails for good', () => {
    const verdictOf = (gate: GateRule, answer: GateAnswer, afterMs: number) =>
      assessGate(gate, afterAnswers(gate, [answer]), start + afterMs).verdict;
    expect(verdictOf(asked, good, freshFor)).toBe('pass');
    expect(verdictOf(hook, says('pass'), freshFor)).toBe('pass');
    expect(verdictOf(hook, says('pass'), freshFor + 1)).toBe('waiting');
    expect(verdictOf(asked, bad, freshFor + 1)).toBe('fail');
    const stale = asText(assessGate(asked, afterAnswers(asked, [good]), start + freshFor + 1));
    expect(stale).toMatchObject({
      verdict: 'waiting',
      words: 'prometheus 0.998 >= 0.99, but that is too old to count',
    });
    expect(stale.askAt).toBeLessThan(start + freshFor);
  });

  it('that was asked twice at once takes the answer that is stored second only against it (P14)', () => {
    const stored = afterAnswers(hook, [says('pass')]);
    const isSecondCounted = (answer: GateAnswer, at: number, status = stored) =>
      isCounted(status, hook, answer, { knownAskedAt: start - minute, at });
    expect(isSecondCounted(says('hold'), start + 1)).toBe(true);
    expect(isSecondCounted(refused, start + 1)).toBe(true);
    expect(isSecondCounted(says('pass'), start + 1)).toBe(false);
    expect(isSecondCounted(says('hold'), start - 1)).toBe(false);
    expect(isSecondCounted(says('hold'), start + 1, freshStatus())).toBe(false);
    expect(isSecondCounted(says('pass'), start + 1, aStatus({ askedAt: start - minute }))).toBe(true);
  });

  it('accepts an answer from a clock that is a little ahead, and asks again when it is far ahead', () => {
    const standing = afterAnswers(asked, [good]);
    const slightly = assessGate(asked, standing, start - 1_000);
    expect(slightly).toMatchObject({ verdict: 'pass', askAt: start + minute });
    const now = start - freshFor - 1;
    expect(assessGate(asked, standing, now)).toMatchObject({ verdict: 'waiting', askAt: now });
  });

  it('of the data flow explains its value, but not after an error', () => {
    const flow = aDataFlowGate();
    const counted = {
      kind: 'value',
      value: 0.95,
      detail: '9 of 10 delivered before, 1 of them nothing now',
    } as const;
    expect(asText(assessGate(flow, afterAnswers(flow, [counted]), start)).words).toBe(
      'dataFlow 0.95 >= 0.7 (9 of 10 delivered before, 1 of them nothing now)',
    );
    expect(asText(assessGate(flow, afterAnswers(flow, [counted, refused]), start + minute)).words).toBe(
      'dataFlow 0.95 >= 0.7, then gave no answer once: connection refused',
    );
  });

  it('keeps the last value and the last detail', () => {
    const kept = { askedAt: start + minute, watchedSince: start, verdict: 'met', value: 0.998 };
    expect(afterAnswers(asked, [bad, good])).toMatchObject({
      ...kept,
      since: start + minute,
      detail: '0.998 (>= 0.99)',
      errorsInRow: 0,
    });
    expect(afterAnswers(asked, [good, refused])).toMatchObject({
      ...kept,
      since: start,
      detail: 'connection refused',
      errorsInRow: 1,
    });
  });
});

describe('the samples of a gate', () => {
  it('are kept in order, and an error has no value', () => {
    const { samples } = afterAnswers(aPrometheusGate(), [good, bad, refused]);
    expect(samples).toEqual([
      { at: start, verdict: 'met', value: 0.998 },
      { at: start + minute, verdict: 'missed', value: 0.93 },
      { at: start + 2 * minute, verdict: 'error', value: null },
    ]);
  });

  it('stay bounded however long a soak lasts, and reach back to its start', () => {
    const { samples } = afterAnswers(aPrometheusGate(), times(1_000, good));
    expect(samples.length).toBeLessThanOrEqual(gateSamplesMax);
    expect([samples[0]?.at, samples.at(-1)?.at]).toEqual([start, start + 999 * minute]);
  });

  it('are still shown after a hold, but no longer count', () => {
    const { samples } = afterAnswers(aPrometheusGate(), [good]);
    expect(freshStatus(samples)).toEqual({ ...freshStatus(), samples });
  });
});
