import { assertNever } from '../../base/assert.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { GateVerdict } from '../../base/vocabulary.ts';
import type { GateAnswers, GateSample } from '../model/gate-answers.ts';
import type { Expectation, GateRule } from '../model/policy.ts';
import type { JudgedGate } from '../model/stop-cause.ts';

/** What a gate answered; `assessGate` decides what it means. */
export type GateAnswer =
  /** A query's value. */
  | { readonly kind: 'value'; readonly value: number; readonly detail: string }
  /** How many messages each collector delivered; `judgeDataFlow` makes a value of it. */
  | {
      readonly kind: 'counts';
      readonly before: MessageCounts;
      readonly after: MessageCounts;
      readonly detail: string;
    }
  /** What a webhook decided. */
  | { readonly kind: 'verdict'; readonly verdict: 'pass' | 'hold'; readonly detail: string }
  /** No usable answer: no data, no connection, an unreadable answer (P14). */
  | { readonly kind: 'error'; readonly detail: string };

/** Messages by the name of their collector; those that delivered none are not in it. */
export type MessageCounts = ReadonlyMap<string, number>;

/** How a gate stands, and why. */
export interface GateAssessment extends JudgedGate {
  /** `waiting`: nothing is known for certain yet, ask on. `inconclusive` is a hold, never a failure (P14). */
  readonly verdict: GateVerdict;
  /** When it is to be asked next. */
  readonly askAt: EpochMs;
}

/** One answer may get lost, or the asked one restart; with the fourth in a row nobody knows how the wave does (P14). */
const errorsMax = 4;

/** A soak of days has more answers than a line on a screen has points. */
export const gateSamplesMax = 60;

/**
 * How a gate stands before it was asked; also after a hold, since what it said before is no evidence any more.
 * @param samples earlier answers, which are still shown
 */
export function freshStatus(samples: readonly GateSample[] = []): GateAnswers {
  return {
    askedAt: null,
    watchedSince: null,
    verdict: 'unasked',
    since: null,
    value: null,
    detail: '',
    errorsInRow: 0,
    samples,
  };
}

/**
 * How a gate stands once it has answered (DESIGN §4, Gate). Up to three errors in a row break no count; a fourth does,
 * and so does a time in which nobody asked: what was not seen is no evidence (P14).
 * @param at when the answer came
 */
export function afterAnswer(
  status: GateAnswers,
  gate: GateRule,
  answer: GateAnswer,
  at: EpochMs,
): GateAnswers {
  const heard = hear(gate, answer);
  const wasWatched = status.askedAt !== null && isFresh(gate, status.askedAt, at);
  const watchedSince = wasWatched ? (status.watchedSince ?? at) : at;
  const samples = withSample(status.samples, { at, verdict: heard.verdict, value: heard.value });
  if (heard.verdict === 'error') {
    const errorsInRow = status.errorsInRow + 1;
    const isKept = status.verdict === 'error' || (wasWatched && errorsInRow < errorsMax);
    const count = isKept ? {} : ({ verdict: 'error', since: at } as const);
    return { ...status, ...count, askedAt: at, watchedSince, detail: heard.detail, errorsInRow, samples };
  }
  const goesOn = wasWatched && status.verdict === heard.verdict;
  return {
    ...heard,
    askedAt: at,
    watchedSince,
    since: goesOn ? status.since : at,
    errorsInRow: 0,
    samples,
  };
}

/** Every second sample goes when they become too many, so that the line still reaches back to the beginning. */
function withSample(samples: readonly GateSample[], sample: GateSample): readonly GateSample[] {
  const kept = samples.length < gateSamplesMax ? samples : samples.filter((_, index) => index % 2 === 0);
  return [...kept, sample];
}

/** What a gate's answers mean for its wave (DESIGN §4, Gate). One in `dryRun` always passes. */
export function assessGate(gate: GateRule, answers: GateAnswers, now: EpochMs): GateAssessment {
  const { name, dryRun } = gate;
  const { verdict, finding } = judge(gate, answers, now);
  const askAt = nextAsk(gate, answers.askedAt, now);
  return { name, dryRun, verdict: dryRun ? 'pass' : verdict, finding, askAt };
}

/** True when a gate has been asked without a break for longer than this since an instant, up to now. */
export function isWatchedLongerThan(
  gate: GateRule,
  { askedAt, watchedSince }: GateAnswers,
  times: { readonly since: EpochMs; readonly now: EpochMs; readonly forMs: DurationMs },
): boolean {
  if (askedAt === null || watchedSince === null || !isFresh(gate, askedAt, times.now)) return false;
  return times.now > Math.max(times.since, watchedSince) + times.forMs;
}

/** True when a value meets the expectation. What is no finite number meets none, not even `!=` (P14). */
export function evaluateExpectation(expect: Expectation, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  switch (expect.operator) {
    case '>=':
      return value >= expect.value;
    case '>':
      return value > expect.value;
    case '<=':
      return value <= expect.value;
    case '<':
      return value < expect.value;
    case '==':
      return value === expect.value;
    case '!=':
      return value !== expect.value;
    default:
      return assertNever(expect.operator);
  }
}

type Heard = Pick<GateSample, 'value' | 'verdict'> & Pick<GateAnswers, 'detail'>;

function hear(gate: GateRule, answer: GateAnswer): Heard {
  const { detail } = answer;
  if (answer.kind === 'error') return { verdict: 'error', value: null, detail };
  if (answer.kind === 'verdict' && gate.kind === 'webhook') {
    return { verdict: answer.verdict === 'pass' ? 'met' : 'hold', value: null, detail };
  }
  const expect = expectationOf(gate);
  if (answer.kind === 'value' && expect !== null && Number.isFinite(answer.value)) {
    const isMet = evaluateExpectation(expect, answer.value);
    return { verdict: isMet ? 'met' : 'missed', value: answer.value, detail };
  }
  return { verdict: 'error', value: null, detail: `the answer does not fit the gate: ${detail}` };
}

/** What a gate's value has to meet; null where it answers with a verdict. */
export function expectationOf(gate: GateRule): Expectation | null {
  switch (gate.kind) {
    case 'prometheus':
    case 'search':
      return gate.expect;
    case 'dataFlow':
      return { operator: '>=', value: gate.atLeast };
    case 'webhook':
      return null;
    default:
      return assertNever(gate);
  }
}

/** Whether it is about the wave as a whole: asked once the soak is over, and then until it has passed. */
export function isAskedAtTheEnd({ kind }: GateRule): boolean {
  return askedAtTheEnd[kind];
}

/** For how long its answer has to last; 0 where one is enough. */
export function forMsOf(gate: GateRule): DurationMs {
  return 'forMs' in gate ? gate.forMs : 0;
}

const askedAtTheEnd: Readonly<Record<GateRule['kind'], boolean>> = {
  prometheus: false,
  webhook: true,
  dataFlow: true,
  search: true,
};

type Judgement = Pick<GateAssessment, 'verdict' | 'finding'>;

// Evaluated in order, the first match wins: silence goes before everything, since an older answer proves nothing.
function judge(gate: GateRule, answers: GateAnswers, now: EpochMs): Judgement {
  const { verdict, detail, errorsInRow } = answers;
  const silence = { times: errorsInRow, detail };
  if (errorsInRow >= errorsMax) return { verdict: 'inconclusive', finding: { kind: 'silent', silence } };
  switch (verdict) {
    case 'unasked':
      return { verdict: 'waiting', finding: { kind: 'unasked' } };
    case 'error':
      return { verdict: 'waiting', finding: { kind: 'silent', silence } };
    case 'hold':
      return {
        verdict: 'hold',
        finding: { kind: 'saysHold', detail, silence: errorsInRow > 0 ? silence : null },
      };
    case 'met':
    case 'missed':
      return judgeCount(gate, answers, now);
    default:
      return assertNever(verdict);
  }
}

/** Whether what is met, or missed, has been so for long enough. */
function judgeCount(gate: GateRule, answers: GateAnswers, now: EpochMs): Judgement {
  const { verdict, value, detail, errorsInRow, askedAt, since } = answers;
  const isMet = verdict === 'met';
  const expect = expectationOf(gate);
  const forMs = forMsOf(gate);
  const figures = gate.kind === 'dataFlow' && errorsInRow === 0 ? { detail } : {};
  const answered = { kind: 'answered', isMet, value, expect, forMs, ...figures } as const;
  // An instant that is missing can't prove anything: it counts as never.
  if (errorsInRow > 0 || askedAt === null || since === null) {
    const silence = { times: errorsInRow, detail };
    return { verdict: 'waiting', finding: { ...answered, silence, lastsMs: 0, isOld: false } };
  }
  const lastsMs = Math.max(0, askedAt - since);
  const isOld = isMet && lastsMs >= forMs && !isFresh(gate, askedAt, now);
  const finding = { ...answered, silence: null, lastsMs, isOld };
  if (lastsMs < forMs || isOld) return { verdict: 'waiting', finding };
  return { verdict: isMet ? 'pass' : 'fail', finding };
}

/** Clocks of two daemons differ by a little; an answer from far in the future is as worthless as an old one. */
function isFresh(gate: GateRule, askedAt: EpochMs, now: EpochMs): boolean {
  return Math.abs(now - askedAt) <= freshForMs(gate);
}

/** One ask may be late or lost; 30 s are for a slow answer and a busy leader. */
function freshForMs({ everyMs }: GateRule): DurationMs {
  return 2 * everyMs + 30_000;
}

function nextAsk(gate: GateRule, askedAt: EpochMs | null, now: EpochMs): EpochMs {
  const isFromTheFuture = askedAt !== null && askedAt > now && !isFresh(gate, askedAt, now);
  return askedAt === null || isFromTheFuture ? now : askedAt + gate.everyMs;
}
