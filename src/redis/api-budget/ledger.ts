import type { z } from 'zod';
import { hashHex } from '../../base/hash.ts';
import type { DurationMs } from '../../base/time.ts';
import { within } from '../../base/waiting.ts';
import type { ServiceStatus } from '../../orchestrator/ports/api-budget.ts';
import type { RedisCommands } from '../connection/connection.ts';
import type { RedisFaults } from '../connection/faults.ts';
import { isRedisOutage } from '../connection/redis-errors.ts';
import { runScript } from '../connection/script.ts';
import { makePermits } from './permits.ts';
import { pauseScript, reserveScript, serviceUpScript, succeededScript } from './scripts.ts';
import { makeRedisTime } from './server-time.ts';
import { slackMaxMs } from './slot-slack.ts';
import { makeStatusWatch, serviceIsDown } from './status-watch.ts';

export interface ApiBudgetLedgerParts {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  /** The id of the access key whose budget this is; only a hash of it is written (P12). */
  readonly accessId: string;
  /** The share of the service's limit that upwave may use. The service allows no more than its limit in any second. */
  readonly requestsPerSecond: number;
  readonly concurrentRequests?: number;
  /** Longer than any request takes: after this a permit that was not given back is taken for a dead daemon's. */
  readonly permitLifeMs?: DurationMs;
  /** How pauses grow, those after a 429 too: each is twice as long as the one before, or as long as the service asked. */
  readonly pauseGrowth?: { readonly firstMs: DurationMs; readonly maxMs: DurationMs };
  /** Called when this daemon learns that the service is down, or answers again, whichever daemon found it. */
  readonly onStatus?: (status: ServiceStatus) => void;
  /** Receives faults of Redis which waiting does not repair. */
  readonly faults?: RedisFaults;
}

/** A permit with its place in the rate. `at`: when it may leave, by this process's monotonic clock. */
export interface Slot {
  readonly permit: string;
  readonly at: number;
}

export type Reservation =
  /** `single`: a success would end a phase in which one request at a time may try. `isProbe`: the service is down. */
  | {
      readonly kind: 'granted';
      readonly slots: readonly Slot[];
      readonly single: boolean;
      readonly isProbe: boolean;
    }
  /**
   * `full`: all concurrent requests are out. `far`: the next slot is too far ahead to be reserved. `away`: Redis is
   * away, or can't do it. `outage`: why no request is sent; null while requests are sent.
   */
  | {
      readonly kind: 'full' | 'far' | 'paused' | 'away';
      readonly retryInMs: DurationMs;
      readonly outage: string | null;
    };

export type Pause =
  /** `forMs`: as the service asked; shorter than the pause before it, it grows. */
  | { readonly kind: 'rate' | 'single'; readonly forMs: DurationMs }
  | { readonly kind: 'down'; readonly reason: string };

/** What all daemons on one access key share, in Redis: slots, permits and pauses. */
export interface ApiBudgetLedger {
  /**
   * Takes up to so many slots, as many as are near. Never throws: without Redis it is `away`.
   * @param slackMs how much later than its instant each may be used; no other daemon gets a slot for as long
   */
  reserve(count: number, slackMs: DurationMs): Promise<Reservation>;
  giveBack(permit: string): void;
  /** @returns how long the pause lasts */
  pause(pause: Pause): Promise<DurationMs>;
  succeeded(): Promise<void>;
  serviceUp(): Promise<void>;
  /** Learns, without a request, whether another daemon found the service down. Never throws. */
  learnStatus(): Promise<void>;
  /** Gives back all that is held. */
  close(): Promise<void>;
}

// Slots are this much further apart than 1/R. Measured with R = 4 and R = 400: none more than R in any second, and
// 96 % of the rate used. It pays for what moves a request within a second: our lateness, and the network's.
const marginShare = 0.04;

/**
 * A 429 met all the same lowers the rate for all daemons: others use the limit, too. Its way up takes a recovery time to
 * where it met the 429, and at most 1.65 more to the whole rate: with two minutes 5.3 min in all. A limit that others
 * share for good then costs 20 to 30 refusals an hour.
 */
export const recoveryMs: DurationMs = 120_000;

// Of the 40 ms that the margin leaves in a second, a quarter may be spent between the slot and its reservation, a
// quarter until the request is handed out, and the rest is the network's.
const missedMaxMs = (1_000 * marginShare) / 4;

/** A slot that is older than this when its request could leave is not used: late ones would leave in a burst. */
export const lateMaxMs: DurationMs = 2 * missedMaxMs;

// A slot is reserved when it is this near; one taken further ahead is lost with every stall.
const horizonMs = 100;

// One call takes several slots only when they follow each other at once, which saves calls at high rates.
const moreHorizonMs = 10;

// How soon to check again when all permits are out: about as often as slots come.
const fullRetryMs = { min: 5, max: 100 };

// A pause may be made longer meanwhile, never shorter; but Redis may lose it.
const pausedRetryMaxMs = 5_000;

// A slot that may be used late keeps all others out for its slack, and for how wrong its instant may be.
const heldMaxMs = 2 * slackMaxMs;

// After a failed call; the connection itself reconnects at its own pace.
const awayRetryMs = 200;

/** In a person's words. */
export const budgetIsAway = 'Redis, which keeps the API budget, does not answer.';
const budgetFails = 'Redis, which keeps the API budget, answers with an error; the log has it.';
const faultName = 'the API budget';

/** All that belongs to one access key: one hash tag, and no trace of its id but a hash (P12). */
export function apiBudgetKeys(keyPrefix: string, accessId: string) {
  const base = `${keyPrefix}:{budget:${hashHex(accessId, 16)}}`;
  return { state: `${base}:state`, permits: `${base}:permits`, worked: `${base}:worked` };
}

/** Makes the ledger. Slots are evenly spaced by Redis's own clock, so daemons need not agree on the time. */
export function makeApiBudgetLedger(parts: ApiBudgetLedgerParts): ApiBudgetLedger {
  const { commands } = parts;
  const { firstMs, maxMs } = parts.pauseGrowth ?? { firstMs: 1_000, maxMs: 60_000 };
  const keys = apiBudgetKeys(parts.keyPrefix, parts.accessId);
  const terms = termsOf(parts);
  const { faults } = parts;
  const onFailed = (error: unknown) => faults?.met(faultName, error);
  const permits = makePermits((given) => commands.zrem(keys.permits, ...given), onFailed);
  let reportSuccess = false;
  const statusWatch = makeStatusWatch({
    readDown: async () => (await commands.hget(keys.state, 'down')) ?? '',
    onStatus: parts.onStatus,
    onFailed,
  });

  const reserve = makeReserve({
    terms,
    permits,
    run: (args) => runScript(commands, reserveScript, { keys, args }),
    learn: (report, down) => {
      reportSuccess = report;
      statusWatch.learn(down);
      faults?.over(faultName);
    },
    onFailed,
  });

  return {
    reserve,

    giveBack: permits.giveBack,

    pause: async (pause) => {
      const args = { forMs: 0, reason: '', ...pause, firstMs, maxMs, recoveryMs };
      const lastsMs = await runScript(commands, pauseScript, { keys, args });
      reportSuccess = true;
      if (pause.kind === 'down') statusWatch.learn(pause.reason);
      return lastsMs;
    },

    succeeded: async () => {
      // Nearly every request succeeds, and nearly never does that change anything.
      if (!reportSuccess) return;
      reportSuccess = false;
      if (await runScript(commands, succeededScript, { keys, args: {} })) statusWatch.learn('');
    },

    serviceUp: async () => {
      if (await runScript(commands, serviceUpScript, { keys, args: {} })) statusWatch.learn('');
    },

    learnStatus: () => statusWatch.poll(),

    close: async () => {
      statusWatch.close();
      await within(awayRetryMs, permits.giveBackAll());
    },
  };
}

/** Makes the reservation of slots. It learns Redis's clock by what each one takes. */
function makeReserve(parts: {
  readonly terms: Terms;
  readonly permits: Permits;
  readonly run: (args: Terms & ReserveArgs) => Promise<ReserveReply>;
  /** @param report a success would change something */
  readonly learn: (report: boolean, down: string) => void;
  readonly onFailed: (error: unknown) => void;
}): ApiBudgetLedger['reserve'] {
  const { terms, permits, run, learn, onFailed } = parts;
  const redisTime = makeRedisTime();

  async function ask(args: ReserveArgs): Promise<Reservation> {
    const sentAt = performance.now();
    const [nowUs, kind, waitUs, report, down, slotsUs] = await run({ ...terms, ...args });
    redisTime.observe({ sentAt, receivedAt: performance.now(), redisAt: nowUs / 1_000 });
    const single = report === 1;
    learn(single, down);
    if (kind !== 'granted') {
      const spacingMs = terms.spacingUs / 1_000;
      return refusedTake(kind, { waitMs: waitUs / 1_000, down, spacingMs, single });
    }
    const slots = slotsUs.map((us, index) => {
      const permit = args.wanted[index] ?? '';
      permits.hold(permit);
      return { permit, at: redisTime.toMonotonic(us / 1_000) };
    });
    return { kind, slots, single, isProbe: down !== '' };
  }

  return async (count, slackMs) => {
    const given = permits.takeReturned();
    const wanted = Array.from({ length: count }, permits.next);
    // Of a process that is late, also its idea of Redis's clock is vague; it is infinitely so before the first answer.
    const heldMs = slackMs === 0 ? 0 : Math.min(slackMs + redisTime.uncertaintyMs(), heldMaxMs);
    try {
      return await ask({ given, wanted, slackUs: Math.ceil(heldMs * 1_000) });
    } catch (error) {
      // The connection reports why there is an outage.
      onFailed(error);
      permits.keep(given);
      const outage = isRedisOutage(error) ? budgetIsAway : budgetFails;
      return { kind: 'away', retryInMs: awayRetryMs, outage };
    }
  };
}

interface ReserveArgs {
  readonly given: readonly string[];
  readonly wanted: readonly string[];
  readonly slackUs: number;
}

type ReserveReply = z.infer<typeof reserveScript.result>;
type Terms = ReturnType<typeof termsOf>;
type Permits = ReturnType<typeof makePermits>;

/** What the script of a reservation needs to know of the budget. */
function termsOf({
  requestsPerSecond,
  concurrentRequests = 10,
  permitLifeMs = 60_000,
}: ApiBudgetLedgerParts) {
  return {
    spacingUs: 1_000_000 / requestsPerSecond,
    marginShare,
    missedMaxUs: missedMaxMs * 1_000,
    horizonUs: horizonMs * 1_000,
    moreHorizonUs: moreHorizonMs * 1_000,
    slackMaxUs: heldMaxMs * 1_000,
    recoveryMs,
    permitsMax: concurrentRequests,
    permitLifeMs,
  };
}

function refusedTake(
  kind: 'full' | 'far' | 'paused',
  of: {
    readonly waitMs: DurationMs;
    readonly down: string;
    readonly spacingMs: DurationMs;
    /** One request at a time may go, so that a budget without a free place is an outage, too. */
    readonly single: boolean;
  },
): Reservation {
  const outage = of.down === '' ? 'The service asked for a pause.' : serviceIsDown(of.down);
  switch (kind) {
    case 'full': {
      const retryInMs = Math.min(Math.max(of.spacingMs, fullRetryMs.min), fullRetryMs.max);
      return { kind, retryInMs, outage: of.single ? outage : null };
    }
    case 'paused':
      return { kind, retryInMs: Math.min(of.waitMs + 1, pausedRetryMaxMs), outage };
    case 'far': {
      // Spread, so that of several daemons not always the same one asks first.
      const retryInMs = of.waitMs - horizonMs * (0.5 + Math.random() * 0.25);
      return { kind, retryInMs, outage: null };
    }
  }
}
