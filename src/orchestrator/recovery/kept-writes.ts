import type { Clock, DurationMs, EpochMs } from '../../base/time.ts';
import type { Sleep } from '../../base/waiting.ts';
import type { CreatesWait } from '../../rollout/model/rollout.ts';
import type { EventSink } from '../ports/event-sink.ts';
import type { OtherReport, WriteRegister } from '../ports/write-register.ts';

export type KeptWrites = ReturnType<typeof makeKeptWrites>;

/** The last connection to the store. */
export interface StoreJoin {
  /** How often a connection was made. */
  readonly count: number;
  /** When, by the monotonic clock. */
  readonly at: number;
  /** False for the first one. */
  readonly isRejoin: boolean;
}

export interface KeptWritesParts {
  /** Absent where parts of the store may go back separately: then every reconnection waits. */
  readonly register: WriteRegister | undefined;
  readonly lastJoin: () => StoreJoin;
  readonly newQuestion: () => string;
  /** In milliseconds. The wall clock may be set back, and then no observation would count. */
  readonly monotonicNow: () => number;
  readonly clock: Clock;
  /** No answer or effect of a create comes later than this. */
  readonly answerWithinMs: DurationMs;
}

// A daemon that starts waits for so long until the others know it: four of their reports.
const knownWithinMs: DurationMs = 2_000;

// A step that waits is not woken by an answer, so it asks again after 1, 2, 4, … seconds.
const firstRetryMs: DurationMs = 1_000;

interface Question {
  readonly joins: number;
  readonly text: string;
  readonly askedAt: number;
  /** When it no longer matters, by the monotonic clock: creates from before have arrived. */
  readonly endsAt: number;
  /** The daemons that must confirm. Those of a rejoin are kept in memory, because the store may have lost them. */
  readonly daemons: Set<string>;
  readonly isRejoin: boolean;
  isConfirmed: boolean;
  unconfirmed: number;
}

/**
 * Finds out after a reconnection whether the store kept everything that it acknowledged, to any daemon. If it did, no create
 * is missing from the records, and creates leave at once. Otherwise one that is still in flight may be missing, and
 * observations count only after it has arrived (P1; decision 6).
 */
export function makeKeptWrites(parts: KeptWritesParts) {
  const { register, lastJoin, monotonicNow, clock, answerWithinMs } = parts;
  let number = 0;
  let acknowledged = 0;
  let known: readonly string[] = [];
  let confirms: readonly string[] = [];
  /** By the monotonic clock. Observations from before do not count. */
  let trustedSince = lastJoin().at;
  let lostUntil = Number.NEGATIVE_INFINITY;
  let question = ask(lastJoin(), []);

  function ask({ count, at, isRejoin }: StoreJoin, awaited: Iterable<string>): Question {
    const endsAt = at + (isRejoin ? answerWithinMs : register === undefined ? 0 : knownWithinMs);
    const daemons = new Set(isRejoin ? [...known, ...awaited] : []);
    const open = { isConfirmed: false, unconfirmed: daemons.size };
    return { joins: count, text: parts.newQuestion(), askedAt: at, endsAt, daemons, isRejoin, ...open };
  }

  function current(): Question {
    const join = lastJoin();
    if (join.count === question.joins) return question;
    if (!question.isConfirmed && question.endsAt <= join.at) trustedSince = question.endsAt;
    // The first connection of a process. Nothing was read before it.
    if (!join.isRejoin) trustedSince = join.at;
    question = ask(join, awaitedStill(join.at));
    return question;
  }

  /** A write of this daemon is missing, so others may be missing as well. */
  function lose(): void {
    const at = monotonicNow();
    lostUntil = at + answerWithinMs;
    question = ask({ count: lastJoin().count, at, isRejoin: true }, awaitedStill(at));
  }

  /** A daemon that has not confirmed may be missing in the store by now, and its create may still be in flight. */
  function awaitedStill(at: number): Iterable<string> {
    return question.isConfirmed || question.endsAt <= at ? [] : question.daemons;
  }

  function learn(asked: Question, others: readonly OtherReport[]): void {
    known = others.map(({ daemon }) => daemon);
    const isLost = monotonicNow() < lostUntil;
    confirms = isLost ? [] : others.flatMap(({ question: text }) => (text === '' ? [] : [text]));
    if (asked === question && !isLost && !asked.isConfirmed) countConfirmations(asked, others);
  }

  /** @returns true if another daemon asks something that this one has not confirmed yet */
  async function report(): Promise<boolean> {
    if (register === undefined) return false;
    const asked = current();
    number += 1;
    const own = number;
    const confirmed = confirms;
    const text = asked.isConfirmed ? '' : asked.text;
    const { before, others } = await register.report({ number: own, question: text, confirms: confirmed });
    // Replies come in the order of the reports, so each earlier one was stored before.
    if (before < acknowledged) lose();
    acknowledged = Math.max(acknowledged, own);
    current();
    learn(asked, others);
    return confirms.some((each) => !confirmed.includes(each));
  }

  const isOpen = ({ isConfirmed, endsAt }: Question): boolean => !isConfirmed && monotonicNow() < endsAt;
  const toWallClock = (at: number): EpochMs => Math.ceil(clock.now() - (monotonicNow() - at));

  return {
    report,

    leave: async (): Promise<void> => register?.leave(),

    /** Observations count from this instant on. It is in the future while a create may be missing from the records. */
    trustedSince: (): EpochMs => {
      const asked = current();
      if (asked.isConfirmed) return toWallClock(trustedSince);
      if (!isOpen(asked) || register === undefined) return toWallClock(asked.endsAt);
      let retryAt = asked.askedAt + firstRetryMs;
      while (retryAt <= monotonicNow()) retryAt = asked.askedAt + (retryAt - asked.askedAt) * 2;
      return toWallClock(Math.min(retryAt, asked.endsAt));
    },

    /** Why no create leaves now; undefined while they do. */
    createsWait: (): CreatesWait | undefined => {
      const asked = current();
      if (!isOpen(asked) || !asked.isRejoin) return undefined;
      const isLost = monotonicNow() < lostUntil;
      return { isLost, unconfirmed: asked.unconfirmed, until: toWallClock(asked.endsAt) };
    },

    /**
     * Called before an intent is stored.
     * @returns a function that tells, once it is stored, whether its create may leave: another write after the intent was
     * acknowledged on the same connection, so that a missing intent will be noticed
     */
    beginIntent: (): (() => Promise<boolean>) => {
      const { count } = lastJoin();
      return async () => {
        await report();
        return lastJoin().count === count && monotonicNow() >= lostUntil;
      };
    },
  };
}

function countConfirmations(asked: Question, others: readonly OtherReport[]): void {
  const confirming = new Set(
    others.filter(({ confirms }) => confirms.includes(asked.text)).map(({ daemon }) => daemon),
  );
  const present = others.map(({ daemon }) => daemon);
  if (asked.isRejoin) for (const daemon of present) asked.daemons.add(daemon);
  const awaited = asked.isRejoin ? [...asked.daemons] : present;
  asked.unconfirmed = awaited.filter((daemon) => !confirming.has(daemon)).length;
  asked.isConfirmed = asked.unconfirmed === 0;
}

// Two daemons confirm each other's questions within about a second.
const reportEveryMs: DurationMs = 500;

/** Reports to the other daemons, and confirms their questions, until the signal is aborted. */
export async function keepReportingWrites(
  writes: Pick<KeptWrites, 'report' | 'leave'>,
  { sink, sleep }: { readonly sink: EventSink; readonly sleep: Sleep },
  signal: AbortSignal,
): Promise<void> {
  const failed = (error: unknown): void =>
    sink.note({ event: 'backgroundTask.failed', backgroundTask: 'writes', error });
  while (!signal.aborted) {
    let isAsked = false;
    try {
      isAsked = await writes.report();
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
    // A new question is answered at once, and each question only once.
    if (!isAsked) await sleep(reportEveryMs, signal);
  }
  await writes.leave().catch(failed);
}
