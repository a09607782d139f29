import type { z } from 'zod';
import { hashHex } from '../../base/hash.ts';
import type { DurationMs } from '../../base/time.ts';
import { waitAtMost } from '../../base/waiting.ts';
import type { BudgetClass, ServiceStatus } from '../../orchestrator/ports/api-budget.ts';
import type { RedisCommands } from '../connection/connection.ts';
import type { RedisFaults } from '../connection/faults.ts';
import { isRedisOutage } from '../connection/redis-errors.ts';
import { runScript } from '../connection/script.ts';
import { makePermits } from './permits.ts';
import { answeredScript, lateScript, pauseScript, reserveScript } from './scripts.ts';
import { makeRedisTime } from './server-time.ts';
import { slackMaxMs } from './slot-slack.ts';
import { makeStatusWatch, serviceIsDown } from './status-watch.ts';
import { makeTravelSpread } from './travel-spread.ts';

export interface ApiBudgetLedgerParts {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  /** The id of the access key with this budget. Only its hash is stored (P12). */
  readonly accessId: string;
  /** upwave's share of the service's limit. The service allows no more than its limit in any second. */
  readonly requestsPerSecond: number;
  readonly concurrentRequests: number;
  /** Longer than any request takes. A permit that was not returned by then belongs to a dead daemon. */
  readonly permitLifeMs: DurationMs;
  /**
   * Growth of pauses, including those after a 429: each is twice as long as the previous one, or as long as the service
   * asked.
   */
  readonly pauseGrowth?: { readonly firstMs: DurationMs; readonly maxMs: DurationMs };
  /** Called when this daemon learns of an outage or its end, whichever daemon found it. */
  readonly onStatus: (status: ServiceStatus) => void;
  /** Receives faults of Redis that need a person. */
  readonly faults: RedisFaults;
}

/** A permit with its slot. `at`: the instant by this process's monotonic clock. `number`: its place among all slots. */
export interface Slot {
  readonly permit: string;
  readonly at: number;
  readonly number: number;
}

export type Reservation =
  /**
   * `single`: only one request at a time may be sent, until one succeeds. `isProbe`: this request tests the service during
   * an outage.
   */
  | {
      readonly kind: 'granted';
      readonly slots: readonly Slot[];
      readonly single: boolean;
      readonly isProbe: boolean;
    }
  /**
   * `full`: all permits are in use. `far`: the next slot is too far ahead to reserve. `away`: Redis is unreachable or fails.
   * `outage`: why no requests are sent; null while they are.
   */
  | {
      readonly kind: 'full' | 'far' | 'paused' | 'away';
      readonly retryInMs: DurationMs;
      readonly outage: string | null;
    };

export type Pause =
  /** `forMs`: as the service asked. If it is shorter than the previous pause, the pause grows. */
  | { readonly kind: 'rate' | 'single'; readonly forMs: DurationMs }
  | { readonly kind: 'down'; readonly reason: string };

export type ApiBudgetLedger = ReturnType<typeof makeApiBudgetLedger>;

// A second of slots lasts this much longer than a second, plus what the network needs: R + 1 requests must not arrive within
// one because some were late or travelled longer. A quarter of it is for the time between the slot and its reservation, a
// quarter until the request is sent, and the rest for an answer that is read meanwhile.
const ownMarginMs: DurationMs = 20;

// The least was measured with R = 4 and R = 400 on a network without jitter: no second had more than R requests, and 96 % of
// the rate was used. The most bounds what a service whose answers take unevenly long costs: 8 % of the rate.
const travelSpreadMs = { minMs: 20, maxMs: 60 };

/**
 * A 429 lowers the rate for all daemons, because others use the limit as well. The rate takes one recovery time to return to
 * where it met the 429, and at most 1.65 more to the whole rate. The first 429 at the whole rate has the shortest one. Each
 * that comes before the rate is whole again doubles it. With the longest one that are 5.3 min in all. If others always use part of
 * the limit, this costs 20 to 40 refusals an hour.
 */
const recovery = { recoveryMinMs: 25_000, recoveryMaxMs: 120_000 };

// A single 429 says that the last second had one request too many. When the next one comes, nearly half of it is over.
const pauseGrowths = {
  rate: { firstMs: 250, maxMs: 60_000 },
  single: { firstMs: 1_000, maxMs: 60_000 },
  down: { firstMs: 1_000, maxMs: 60_000 },
};

// How old a slot may be that is still granted.
const missedMaxMs = ownMarginMs / 2;

/** A slot that is older when its request could be sent is not used: late requests would be sent in a burst. */
export const lateMaxMs: DurationMs = 2 * missedMaxMs;

/**
 * A request that leaves later after its slot than this moves later slots. Together with the network's spread it stays below the
 * margin of a second.
 */
const leftLateMaxMs: DurationMs = ownMarginMs / 2;

// A slot is reserved when it is this near. One reserved further ahead is lost with every stall.
const horizonMs = 100;

// One call takes several slots only when they follow each other closely, which saves calls at high rates.
const moreHorizonMs = 10;

// How soon to retry when all permits are in use: about as often as slots come.
const fullRetryMs = { min: 5, max: 100 };

// A pause may become longer, never shorter. But Redis may lose it.
const pausedRetryMaxMs = 5_000;

// A slot with slack blocks others for its slack and for the uncertainty of its instant.
const heldMaxMs = 2 * slackMaxMs;

// After a failed call. The connection itself reconnects at its own intervals.
const awayRetryMs = 200;

/** For people. */
export const budgetIsAway = 'Redis, which keeps the API budget, does not answer.';
const budgetFails = 'Redis, which keeps the API budget, answers with an error. See the log.';
const faultName = 'the API budget';

/** The keys of one access key: one hash tag, and only a hash of its id (P12). */
export function apiBudgetKeys(keyPrefix: string, accessId: string) {
  const base = `${keyPrefix}:{budget:${hashHex(accessId, 16)}}`;
  return {
    state: `${base}:state`,
    permits: `${base}:permits`,
    late: `${base}:late`,
    worked: `${base}:worked`,
  };
}

/**
 * The slots, permits and pauses that all daemons with one access key share, in Redis. Slots are evenly spaced by Redis's
 * clock, so the clocks of daemons need not agree.
 */
export function makeApiBudgetLedger(parts: ApiBudgetLedgerParts) {
  const { commands } = parts;
  const keys = apiBudgetKeys(parts.keyPrefix, parts.accessId);
  const terms = termsOf(parts);
  const { faults } = parts;
  const travel = makeTravelSpread(travelSpreadMs);
  const onFailed = (error: unknown) => faults.met(faultName, error);
  const permits = makePermits((returned) => commands.zrem(keys.permits, ...returned), onFailed);
  let reportSuccess = false;
  const statusWatch = makeStatusWatch({
    readDown: async () => (await commands.hget(keys.state, 'down')) ?? '',
    onStatus: parts.onStatus,
    onFailed,
  });

  /** Moves the slot that comes R after this one to a second from now, and by what the network may shift. */
  const keepSecondAfter = (slot: number, shiftMs: DurationMs): void => {
    const slotsMax = Math.ceil(parts.requestsPerSecond);
    const untilUs = Math.ceil((1_000 + ownMarginMs / 2 + shiftMs) * 1_000);
    runScript(commands, lateScript, { keys, args: { slot, slotsMax, untilUs } }).catch(onFailed);
  };

  const answered = async (kind: 'success' | 'refusal'): Promise<void> => {
    if (await runScript(commands, answeredScript, { keys, args: { kind } })) statusWatch.learn('');
  };

  const reserve = makeReserve({
    terms,
    permits,
    run: (args) => {
      const marginShare = (ownMarginMs + travel.spreadMs) / 1_000;
      return runScript(commands, reserveScript, { keys, args: { ...terms, marginShare, ...args } });
    },
    learn: (report, down) => {
      reportSuccess = report;
      statusWatch.learn(down);
      faults.over(faultName);
    },
    onFailed,
  });

  return {
    reserve,

    /** A request has ended, or did not leave. Where it took unusually long, it may have arrived late. */
    giveBack: ({ permit, number }: Slot): void => {
      if (travel.ended(permit, performance.now()) > 0) keepSecondAfter(number, 0);
      permits.giveBack(permit);
    },

    /**
     * A request leaves, after its slot: it may have connected first, or stored its intent. Where it is late, the slots of the
     * second after it are later as well. Lists take long at the service, so they say nothing about the network.
     */
    left: ({ permit, at, number }: Slot, budgetClass: BudgetClass): void => {
      const now = performance.now();
      if (budgetClass !== 'page') travel.left(permit, now);
      if (now - at > leftLateMaxMs) keepSecondAfter(number, travel.spreadMs);
    },

    /** @returns the length of the pause */
    pause: async (pause: Pause): Promise<DurationMs> => {
      const growth = parts.pauseGrowth ?? pauseGrowths[pause.kind];
      const args = { forMs: 0, reason: '', ...pause, ...growth, ...recovery };
      const lastsMs = await runScript(commands, pauseScript, { keys, args });
      reportSuccess = true;
      if (pause.kind === 'down') statusWatch.learn(pause.reason);
      return lastsMs;
    },

    succeeded: async (): Promise<void> => {
      // Nearly every request succeeds, and success rarely changes anything.
      if (!reportSuccess) return;
      reportSuccess = false;
      await answered('success');
    },

    serviceUp: (): Promise<void> => answered('refusal'),

    /** Reads whether another daemon found an outage. Never throws. */
    learnStatus: (): Promise<void> => statusWatch.poll(),

    /** Returns all permits. */
    close: async (): Promise<void> => {
      statusWatch.close();
      await waitAtMost(awayRetryMs, permits.giveBackAll());
    },
  };
}

/**
 * Makes the function that reserves up to `count` slots: those that are near. Never throws: without Redis the result is `away`.
 * `slackMs`: how late each may be used; no other daemon gets a slot for as long. It learns Redis's clock from each call.
 */
function makeReserve(parts: {
  readonly terms: Terms;
  readonly permits: Permits;
  readonly run: (args: ReserveArgs) => Promise<ReserveReply>;
  /** @param report true when a success would change something */
  readonly learn: (report: boolean, down: string) => void;
  readonly onFailed: (error: unknown) => void;
}): (count: number, slackMs: DurationMs) => Promise<Reservation> {
  const { terms, permits, run, learn, onFailed } = parts;
  const redisTime = makeRedisTime();
  const spacingMs = terms.spacingUs / 1_000;

  async function ask(args: ReserveArgs): Promise<Reservation> {
    const sentAt = performance.now();
    const [nowUs, kind, waitUs, report, down, slotsUs, firstSlot] = await run(args);
    redisTime.observe({ sentAt, receivedAt: performance.now(), redisAt: nowUs / 1_000 });
    const single = report === 1;
    learn(single, down);
    if (kind !== 'granted') {
      return refusedTake(kind, { waitMs: waitUs / 1_000, down, spacingMs, single });
    }
    const slots = slotsUs.map((us, index) => {
      const permit = args.wanted[index] ?? '';
      permits.hold(permit);
      return { permit, at: redisTime.toMonotonic(us / 1_000), number: firstSlot + index };
    });
    return { kind, slots, single, isProbe: down !== '' };
  }

  return async (count, slackMs) => {
    const returned = permits.takeReturned();
    const wanted = Array.from({ length: count }, permits.next);
    // A late process also knows Redis's clock only vaguely; before the first reply not at all.
    const heldMs = slackMs === 0 ? 0 : Math.min(slackMs + redisTime.uncertaintyMs(), heldMaxMs);
    try {
      return await ask({ returned, wanted, slackUs: Math.ceil(heldMs * 1_000) });
    } catch (error) {
      // The connection reports the cause.
      onFailed(error);
      permits.keep(returned);
      const outage = isRedisOutage(error) ? budgetIsAway : budgetFails;
      return { kind: 'away', retryInMs: awayRetryMs, outage };
    }
  };
}

interface ReserveArgs {
  readonly returned: readonly string[];
  readonly wanted: readonly string[];
  readonly slackUs: number;
}

type ReserveReply = z.infer<typeof reserveScript.result>;
type Terms = ReturnType<typeof termsOf>;
type Permits = ReturnType<typeof makePermits>;

/** The parameters of the budget for the reservation script. */
function termsOf({ requestsPerSecond, concurrentRequests, permitLifeMs }: ApiBudgetLedgerParts) {
  return {
    spacingUs: 1_000_000 / requestsPerSecond,
    missedMaxUs: missedMaxMs * 1_000,
    horizonUs: horizonMs * 1_000,
    moreHorizonUs: moreHorizonMs * 1_000,
    slackMaxUs: heldMaxMs * 1_000,
    permitsMax: concurrentRequests,
    permitLifeMs,
  };
}

function refusedTake(
  kind: 'full' | 'far' | 'paused',
  asked: {
    readonly waitMs: DurationMs;
    readonly down: string;
    readonly spacingMs: DurationMs;
    /** Only one request at a time may be sent, so `full` means an outage as well. */
    readonly single: boolean;
  },
): Reservation {
  const outage = asked.down === '' ? 'The service asked for a pause.' : serviceIsDown(asked.down);
  switch (kind) {
    case 'full': {
      const retryInMs = Math.min(Math.max(asked.spacingMs, fullRetryMs.min), fullRetryMs.max);
      return { kind, retryInMs, outage: asked.single ? outage : null };
    }
    case 'paused':
      return { kind, retryInMs: Math.min(asked.waitMs + 1, pausedRetryMaxMs), outage };
    case 'far': {
      // Spread at random, so that not always the same daemon is first.
      const retryInMs = asked.waitMs - horizonMs * (0.5 + Math.random() * 0.25);
      return { kind, retryInMs, outage: null };
    }
  }
}
