import { assertNever } from '../base/assert.ts';
import type { DurationMs } from '../base/time.ts';
import type { adminApi, VerbBody } from '../contract/admin-api.ts';
import type { OperationHandlers } from '../http/http-exchange.ts';
import type { Operations, Verb } from '../orchestrator/operations.ts';
import type { RolloutStatus } from '../rollout/status.ts';
import { AdminFault } from './admin-fault.ts';
import { type Readiness, readReadiness, TookTooLong, within } from './readiness.ts';
import { encodeUpgrade } from './upgrade-body.ts';

export interface RolloutHandlersParts {
  readonly operations: Operations;
  readonly readiness: () => Promise<Readiness>;
  /** True for an error that means that Redis is away. When it is not given, the readiness is asked. */
  readonly isUnavailable?: (error: unknown) => boolean;
  /** Reads come from Redis in milliseconds; whoever looks at a screen should learn soon that they do not: 3 s. */
  readonly readWithinMs?: DurationMs;
}

const readWithinMsDefault: DurationMs = 3_000;
/** A verb answers when it holds: creates that are just leaving are waited for, up to their request's time-out (P4). */
const verbWithinMs: DurationMs = 60_000;

/** The handlers of our own API, over what an operator can see and do. */
export function makeRolloutHandlers(parts: RolloutHandlersParts): OperationHandlers<typeof adminApi> {
  const { operations } = parts;
  const readWithinMs = parts.readWithinMs ?? readWithinMsDefault;
  const ask = <T>(question: () => Promise<T>, withinMs = readWithinMs) => askFor(parts, question, withinMs);
  const statusOf = async (id: string) => found(id, await ask(() => operations.rolloutStatus(id)));
  const apply = async (verb: Verb, rolloutId: string, { by, reason }: VerbBody) => {
    // Asked before: a verb may wait long for good reasons, and Redis being away is none.
    await refuseWithoutRedis(parts.readiness);
    const request = { rolloutId, verb, by, reason: reason === '' ? 'no reason given' : reason };
    return { body: await perform(() => ask(() => operations.apply(request), verbWithinMs), rolloutId) };
  };
  return {
    listRollouts: async () => ({ body: { rollouts: await ask(() => operations.listRollouts()) } }),
    getRollout: async ({ params }) => ({ body: await statusOf(params.id) }),
    listRolloutCollectors: async ({ params, query }) => {
      const status = await statusOf(params.id);
      const { offset, limit, state } = query;
      const page = { offset, limit, ...(state !== undefined && { state }) };
      const upgrades = found(params.id, await ask(() => operations.listUpgrades(params.id, page)));
      const total = state === undefined ? status.planned : status.counts[state];
      return { body: { collectors: upgrades.map((upgrade) => encodeUpgrade(upgrade, status)), total } };
    },
    listRolloutEvents: async ({ params, query }) => ({
      body: { events: found(params.id, await ask(() => operations.readEvents(params.id, query.limit))) },
    }),
    pauseRollout: ({ params, body }) => apply('pause', params.id, body),
    resumeRollout: ({ params, body }) => apply('resume', params.id, body),
    abortRollout: ({ params, body }) => apply('abort', params.id, body),
  };
}

async function perform(
  apply: () => ReturnType<Operations['apply']>,
  rolloutId: string,
): Promise<RolloutStatus> {
  const result = await apply();
  switch (result.kind) {
    case 'done':
    case 'unchanged':
      return result.status;
    case 'refused':
      throw new AdminFault('refused', result.reason);
    case 'unknownRollout':
      throw unknownRollout(rolloutId);
    default:
      return assertNever(result);
  }
}

function found<T>(rolloutId: string, value: T | undefined): T {
  if (value === undefined) throw unknownRollout(rolloutId);
  return value;
}

function unknownRollout(rolloutId: string): AdminFault {
  return new AdminFault('notFound', `no rollout ${rolloutId}`);
}

/** Turns "Redis is away", however it shows, into one fault. Anything else is a bug, and goes on as it is. */
async function askFor<T>(
  parts: RolloutHandlersParts,
  question: () => Promise<T>,
  withinMs: DurationMs,
): Promise<T> {
  try {
    return await within(question(), withinMs);
  } catch (error) {
    if (error instanceof TookTooLong || parts.isUnavailable?.(error) === true) throw unavailable(error);
    const { redis } = await readReadiness(parts.readiness);
    if (redis?.ok === false) throw unavailable(error);
    throw error;
  }
}

async function refuseWithoutRedis(readiness: () => Promise<Readiness>): Promise<void> {
  const { redis } = await readReadiness(readiness);
  if (redis?.ok === false) throw unavailable(undefined);
}

function unavailable(cause: unknown): AdminFault {
  return new AdminFault('unavailable', 'the state is not at hand: Redis is away', { cause });
}
