import { assertNever } from '../../base/assert.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { formatDuration } from '../../base/time.ts';
import type { Expectation, GateRule } from '../model/policy.ts';
import type { GateAnswers } from '../model/rollout.ts';

/** What a gate answered, as the core needs it. */
export type GateAnswerLike =
  | { readonly kind: 'value'; readonly value: number; readonly detail: string }
  | { readonly kind: 'verdict'; readonly verdict: 'pass' | 'hold'; readonly detail: string }
  | { readonly kind: 'error'; readonly detail: string };

export interface GateAssessment {
  /** `waiting`: nothing is known for certain yet, ask on. `inconclusive` is a hold, never a failure (P14). */
  readonly verdict: 'pass' | 'fail' | 'hold' | 'inconclusive' | 'waiting';
  /** How it stands, for a person: `prometheus 0.93, expected >= 0.99, for 4m of 10m`. */
  readonly words: string;
  /** When it is to be asked next. */
  readonly askAt: EpochMs;
}

/** One answer may get lost, or the asked one restart; with the fourth in a row nobody knows how the wave does (P14). */
const errorsMax = 4;

/** How a gate stands before it was asked; also after a hold, since what it said before is no evidence any more. */
export function freshStatus(): GateAnswers {
  return {
    askedAt: null,
    watchedSince: null,
    verdict: 'unasked',
    since: null,
    value: null,
    detail: '',
    errorsInRow: 0,
  };
}

/**
 * How a gate stands once it has answered (DESIGN §4, Gate). Up to three errors in a row break no count; a fourth does,
 * and so does a time in which nobody asked: what was not seen is no evidence (P14).
 * @param at when the answer came
 */
export function afterAnswer(
  standing: GateAnswers,
  gate: GateRule,
  answer: GateAnswerLike,
  at: EpochMs,
): GateAnswers {
  const heard = hear(gate, answer);
  const wasWatched = standing.askedAt !== null && isFresh(gate, standing.askedAt, at);
  const watchedSince = wasWatched ? (standing.watchedSince ?? at) : at;
  if (heard.verdict === 'error') {
    const errorsInRow = standing.errorsInRow + 1;
    const isKept = standing.verdict === 'error' || (wasWatched && errorsInRow < errorsMax);
    const count = isKept ? {} : ({ verdict: 'error', since: at } as const);
    return { ...standing, ...count, askedAt: at, watchedSince, detail: heard.detail, errorsInRow };
  }
  const goesOn = wasWatched && standing.verdict === heard.verdict;
  return { ...heard, askedAt: at, watchedSince, since: goesOn ? standing.since : at, errorsInRow: 0 };
}

/** What a gate's standing means for its wave (DESIGN §4, Gate). One in `dryRun` always passes. */
export function assessGate(gate: GateRule, standing: GateAnswers, now: EpochMs): GateAssessment {
  const { verdict, words } = judge(gate, standing, now);
  const askAt = nextAsk(gate, standing.askedAt, now);
  return gate.dryRun ? { verdict: 'pass', words: `${words} (dry run)`, askAt } : { verdict, words, askAt };
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

/** Writes a query's value in six digits, or in all of them where rounding would put it on the other side. */
export function writeGateValue(expect: Expectation, value: number): string {
  const rounded = Number(value.toPrecision(6));
  const isTrue = evaluateExpectation(expect, rounded) === evaluateExpectation(expect, value);
  return String(isTrue ? rounded : value);
}

/** `>= 0.99` */
export function writeExpectation({ operator, value }: Expectation): string {
  return `${operator} ${value}`;
}

type Heard = Pick<GateAnswers, 'value' | 'detail'> & {
  readonly verdict: Exclude<GateAnswers['verdict'], 'unasked'>;
};

function hear(gate: GateRule, answer: GateAnswerLike): Heard {
  const { kind, detail } = answer;
  if (kind === 'error') return { verdict: 'error', value: null, detail };
  if (kind === 'verdict' && gate.kind === 'webhook') {
    return { verdict: answer.verdict === 'pass' ? 'met' : 'hold', value: null, detail };
  }
  if (kind === 'value' && gate.kind === 'prometheus' && Number.isFinite(answer.value)) {
    const isMet = evaluateExpectation(gate.expect, answer.value);
    return { verdict: isMet ? 'met' : 'missed', value: answer.value, detail };
  }
  return { verdict: 'error', value: null, detail: `an answer that says nothing to it: ${detail}` };
}

type Judgement = Pick<GateAssessment, 'verdict' | 'words'>;

// Evaluated in order, the first match wins: silence goes before everything, since an older answer proves nothing.
function judge(gate: GateRule, standing: GateAnswers, now: EpochMs): Judgement {
  const { verdict, detail, errorsInRow } = standing;
  const times = errorsInRow === 1 ? 'once' : `${errorsInRow} times`;
  const silence = `gave no answer ${times}: ${detail}`;
  if (errorsInRow >= errorsMax) return { verdict: 'inconclusive', words: `${gate.name} ${silence}` };
  switch (verdict) {
    case 'unasked':
      return { verdict: 'waiting', words: `${gate.name} was not asked yet` };
    case 'error':
      return { verdict: 'waiting', words: `${gate.name} ${silence}` };
    case 'hold': {
      const words = errorsInRow > 0 ? `said hold, then ${silence}` : withDetail('says hold', detail);
      return { verdict: 'hold', words: `${gate.name} ${words}` };
    }
    case 'met':
    case 'missed':
      return judgeCount(gate, standing, { silence, now });
    default:
      return assertNever(verdict);
  }
}

/** Whether what is met, or missed, has been so for long enough. */
function judgeCount(
  gate: GateRule,
  standing: GateAnswers,
  { silence, now }: { readonly silence: string; readonly now: EpochMs },
): Judgement {
  const { verdict, errorsInRow, askedAt, since } = standing;
  const words = showAnswer(gate, standing);
  // An instant that is missing can't prove anything: it counts as never.
  if (errorsInRow > 0 || askedAt === null || since === null) {
    return { verdict: 'waiting', words: `${words}, then ${silence}` };
  }
  const forMs = gate.kind === 'prometheus' ? gate.forMs : 0;
  const heldMs = Math.max(0, askedAt - since);
  if (heldMs < forMs) {
    const progress = `for ${formatDuration(heldMs)} of ${formatDuration(forMs)}`;
    return { verdict: 'waiting', words: `${words}, ${progress}` };
  }
  if (verdict === 'met' && !isFresh(gate, askedAt, now)) {
    return { verdict: 'waiting', words: `${words}, but that is too old to count` };
  }
  const length = forMs > 0 ? `, for ${formatDuration(heldMs)}` : '';
  return { verdict: verdict === 'met' ? 'pass' : 'fail', words: `${words}${length}` };
}

function showAnswer(gate: GateRule, { verdict, value }: GateAnswers): string {
  if (gate.kind === 'webhook') return `${gate.name} says pass`;
  const shown = value === null ? 'no value' : writeGateValue(gate.expect, value);
  const expected = writeExpectation(gate.expect);
  return verdict === 'met'
    ? `${gate.name} ${shown} ${expected}`
    : `${gate.name} ${shown}, expected ${expected}`;
}

function withDetail(words: string, detail: string): string {
  return detail === '' ? words : `${words}: ${detail}`;
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
