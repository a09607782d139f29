import { type DurationMs, formatDuration } from '../../base/time.ts';
import { inTime, TookTooLong } from '../../base/waiting.ts';
import type { Operations } from '../../orchestrator/operations/operations.ts';
import { AdminFault } from '../access/admin-fault.ts';
import { type Readiness, readReadiness } from './readiness.ts';

export interface AskOperationsParts {
  readonly operations: Operations;
  readonly readiness: () => Promise<Readiness>;
  /** True for an error that means that Redis is unavailable. For other errors the readiness decides. */
  readonly isUnavailable: (error: unknown) => boolean;
  /** Reads take milliseconds in Redis. A person at a screen should learn soon that Redis does not answer: 3 s. */
  readonly readWithinMs?: DurationMs;
  /** A verb waits for creates that are just leaving, up to the time-out of their requests (P4): 60 s. */
  readonly actWithinMs?: DurationMs;
  /** An approval reads the whole fleet again: 200 requests for 100,000 collectors, at 4 a second beside others: 5 min. */
  readonly approveWithinMs?: DurationMs;
}

export type AskOperations = ReturnType<typeof makeAskOperations>;

/** Runs an operator's reads and verbs in bounded time, with one fault for every sign of an unavailable Redis. */
export function makeAskOperations(parts: AskOperationsParts) {
  const { operations, readWithinMs = 3_000, actWithinMs = 60_000, approveWithinMs = 300_000 } = parts;
  const actWithin =
    (limitMs: DurationMs) =>
    async <T>(deed: (operations: Operations) => Promise<T>): Promise<T> => {
      // Checked first: a verb may take long for good reasons, but an unavailable Redis is not one.
      await refuseWithoutRedis(parts.readiness);
      return ask(parts, () => deed(operations), { limitMs, late: lateDeed(limitMs), silent: silentDeed });
    };
  return {
    /** Why Redis, or the clock, allows no work, in words for an operator; undefined while they do. */
    notReady: async (): Promise<string | undefined> => {
      const { redis, clock } = await readReadiness(parts.readiness);
      return [redis, clock].find((check) => check?.ok === false)?.reason;
    },
    read: <T>(question: (operations: Operations) => Promise<T>): Promise<T> => {
      const words = { late: redisIsAway, silent: redisIsAway };
      return ask(parts, () => question(operations), { limitMs: readWithinMs, ...words });
    },
    /** For calls that may take long for good reasons: an answer of the service, requests that are just leaving. */
    act: actWithin(actWithinMs),
    approve: actWithin(approveWithinMs),
  };
}

const redisIsAway =
  'Redis does not answer, so the state is unknown. Running upgrades continue at the service, and nothing new starts. Check `redis` in the config; the daemon continues when Redis is back';

function unwritableText(reason: string): string {
  return `${reason}. Nothing was changed, and nothing new starts. Running upgrades continue at the service; repeat this when Redis accepts writes`;
}

// The verb may have been carried out, and only its answer lost.
const silentDeed = 'Redis does not answer; whether this was stored is unknown: repeat it';

function lateDeed(limitMs: DurationMs): string {
  return `no end within ${formatDuration(limitMs)}; it may still finish: check, and repeat it if it did not`;
}

/** Any error other than a time-out or an unavailable Redis is a bug, and is thrown on. */
async function ask<T>(
  parts: AskOperationsParts,
  question: () => Promise<T>,
  { limitMs, late, silent }: { readonly limitMs: DurationMs; readonly late: string; readonly silent: string },
): Promise<T> {
  try {
    return await inTime(limitMs, question());
  } catch (error) {
    if (error instanceof TookTooLong) throw new AdminFault('unavailable', late, { cause: error });
    if (parts.isUnavailable(error)) throw unavailable(silent, error);
    const { redis } = await readReadiness(parts.readiness);
    if (redis?.ok === false) throw unavailable(redis.kind === 'forbidden' ? redis.reason : silent, error);
    throw error;
  }
}

async function refuseWithoutRedis(readiness: () => Promise<Readiness>): Promise<void> {
  const { redis } = await readReadiness(readiness);
  // A brake may not need the right that Redis refuses (P4), and a slow Redis may still store it, so the verb is tried.
  if (redis?.ok !== false || redis.kind === 'forbidden' || redis.kind === 'silent') return;
  const words = redis.kind === 'unwritable' ? unwritableText(redis.reason) : redisIsAway;
  throw unavailable(words, undefined);
}

function unavailable(words: string, cause: unknown): AdminFault {
  return new AdminFault('unavailable', words, { cause });
}

/** A request with a reason, as it goes on to events and records: it is never empty. */
export function withReason<Body extends { readonly reason: string }>(body: Body): Body {
  return { ...body, reason: body.reason === '' ? 'no reason given' : body.reason };
}
