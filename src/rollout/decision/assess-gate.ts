import { assertNever } from '../../base/assert.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { GateVerdict } from '../../base/vocabulary.ts';
import { type Expectation, evaluateExpectation } from '../model/expectation.ts';
import type { GateAnswers, GateSample } from '../model/gate-answers.ts';
import type { GateRule } from '../model/policy.ts';
import type { JudgedGate } from '../model/stop-cause.ts';

/** The answer of a gate's probe. `assessGate` decides what it means. */
export type GateAnswer =
  /** The value of a query. */
  | { readonly kind: 'value'; readonly value: number; readonly detail: string }
  /** How many messages each collector delivered. `verdictOnDataFlow` computes a value from it. */
  | {
      readonly kind: 'counts';
      readonly before: MessageCounts;
      readonly after: MessageCounts;
      readonly detail: string;
    }
  /** The decision of a webhook. */
  | { readonly kind: 'verdict'; readonly verdict: 'pass' | 'hold'; readonly detail: string }
  /** No usable answer: no data, no connection, an unreadable answer (P14). */
  | { readonly kind: 'error'; readonly detail: string };

/** Messages by collector name. Collectors without messages are missing. */
export type MessageCounts = ReadonlyMap<string, number>;

/** The state of a gate's probe, and its reason. */
export interface GateAssessment extends JudgedGate {
  /** `waiting`: nothing is certain yet, keep asking. `inconclusive` is a hold, never a failure (P14). */
  readonly verdict: GateVerdict;
  /** When to ask it next. */
  readonly askAt: EpochMs;
}

// An answer may get lost, or the probe's server may restart. After four errors in a row the wave's health is unknown (P14).
const errorsMax = 4;

/** A plot has no more points than this, even for a soak of days. */
export const gateSamplesMax = 60;

/**
 * The state of a gate that was not asked yet, or not since a hold: earlier answers are no longer evidence.
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
 * The state of a gate after an answer (DESIGN §4, Gate). Up to three errors in a row do not interrupt the count. A fourth
 * does, and so does a time without any question: only observations are evidence (P14).
 * @param at when the answer came
 */
export function afterAnswer(
  status: GateAnswers,
  gate: GateRule,
  answer: GateAnswer,
  at: EpochMs,
): GateAnswers {
  const reading = interpret(gate, answer);
  const wasWatched = status.askedAt !== null && isFresh(gate, status.askedAt, at);
  const watchedSince = wasWatched ? (status.watchedSince ?? at) : at;
  const samples = withSample(status.samples, { at, verdict: reading.verdict, value: reading.value });
  if (reading.verdict === 'error') {
    const errorsInRow = status.errorsInRow + 1;
    const isKept = status.verdict === 'error' || (wasWatched && errorsInRow < errorsMax);
    const count = isKept ? {} : ({ verdict: 'error', since: at } as const);
    return { ...status, ...count, askedAt: at, watchedSince, detail: reading.detail, errorsInRow, samples };
  }
  const isSame = wasWatched && status.verdict === reading.verdict;
  return {
    ...reading,
    askedAt: at,
    watchedSince,
    since: isSame ? status.since : at,
    errorsInRow: 0,
    samples,
  };
}

/**
 * Whether an answer still counts. The leader may ask twice, because of an outdated view or beside another leader. The answer
 * that is stored second counts only if it is the later one and counts against the gate (P14).
 * @param asked what was known when the question was sent, and when its answer arrived
 */
export function isCounted(
  status: GateAnswers,
  gate: GateRule,
  answer: GateAnswer,
  asked: { readonly knownAskedAt: EpochMs | null; readonly at: EpochMs },
): boolean {
  if (status.askedAt === asked.knownAskedAt) return true;
  // A hold has ended meanwhile, and the gate starts over.
  if (status.askedAt === null) return false;
  return asked.at >= status.askedAt && interpret(gate, answer).verdict !== 'met';
}

/** Drops every second sample when there are too many: the plot still reaches back to the beginning. */
function withSample(samples: readonly GateSample[], sample: GateSample): readonly GateSample[] {
  const kept = samples.length < gateSamplesMax ? samples : samples.filter((_, index) => index % 2 === 0);
  return [...kept, sample];
}

/** What a gate's answers mean for its wave (DESIGN §4, Gate). A gate in `dryRun` always passes. */
export function assessGate(gate: GateRule, answers: GateAnswers, now: EpochMs): GateAssessment {
  const { name, dryRun } = gate;
  const { verdict, finding } = verdictOnGate(gate, answers, now);
  const askAt = nextAsk(gate, answers.askedAt, now);
  return { name, dryRun, verdict: dryRun ? 'pass' : verdict, finding, askAt };
}

/** True when a gate has been asked without interruption for longer than this since an instant, up to now. */
export function isWatchedLongerThan(
  gate: GateRule,
  { askedAt, watchedSince }: GateAnswers,
  times: { readonly since: EpochMs; readonly now: EpochMs; readonly forMs: DurationMs },
): boolean {
  if (askedAt === null || watchedSince === null || !isFresh(gate, askedAt, times.now)) return false;
  return times.now > Math.max(times.since, watchedSince) + times.forMs;
}

type GateReading = Pick<GateSample, 'value' | 'verdict'> & Pick<GateAnswers, 'detail'>;

function interpret(gate: GateRule, answer: GateAnswer): GateReading {
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

/** The expectation of a gate's value; null if it answers with a verdict. */
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

/** Whether the gate is about the whole wave: it is asked after the soak, until it has passed. */
export function isAskedAtTheEnd({ kind }: GateRule): boolean {
  return askedAtTheEnd[kind];
}

/** How long its answer has to last; 0 if one answer is enough. */
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

// Evaluated in order, the first match wins. Silence comes first, because an older answer is no evidence.
function verdictOnGate(gate: GateRule, answers: GateAnswers, now: EpochMs): Judgement {
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
      return verdictOnCount(gate, answers, now);
    default:
      return assertNever(verdict);
  }
}

/** Whether the expectation was met, or missed, for long enough. */
function verdictOnCount(gate: GateRule, answers: GateAnswers, now: EpochMs): Judgement {
  const { verdict, value, detail, errorsInRow, askedAt, since } = answers;
  const isMet = verdict === 'met';
  const expect = expectationOf(gate);
  const forMs = forMsOf(gate);
  const figures = gate.kind === 'dataFlow' && errorsInRow === 0 ? { detail } : {};
  const answered = { kind: 'answered', isMet, value, expect, forMs, ...figures } as const;
  // A missing instant counts as never.
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

/** The clocks of two daemons differ a little. An answer from far in the future is as worthless as an old one. */
function isFresh(gate: GateRule, askedAt: EpochMs, now: EpochMs): boolean {
  return Math.abs(now - askedAt) <= freshForMs(gate);
}

/** One question may be late or lost. The 30 s allow for a slow answer and a busy leader. */
function freshForMs({ everyMs }: GateRule): DurationMs {
  return 2 * everyMs + 30_000;
}

function nextAsk(gate: GateRule, askedAt: EpochMs | null, now: EpochMs): EpochMs {
  const isFromTheFuture = askedAt !== null && askedAt > now && !isFresh(gate, askedAt, now);
  return askedAt === null || isFromTheFuture ? now : askedAt + gate.everyMs;
}
