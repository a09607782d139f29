import { hashHex } from '../../base/hash.ts';
import type { DurationMs } from '../../base/time.ts';
import type { ServiceStatus } from '../../orchestrator/ports/api-budget.ts';
import { makeWriteMarks } from '../connection/commands.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { type RedisFaults, untoldFaults } from '../connection/faults.ts';
import { isRedisOutage } from '../connection/redis-errors.ts';
import { runScript } from '../connection/script.ts';
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
  /** How pauses grow. A longer `Retry-After` takes their place. */
  readonly pauseGrowth?: { readonly firstMs: DurationMs; readonly maxMs: DurationMs };
  /** Called when this daemon learns that the service is down, or answers again, whichever daemon found it. */
  readonly onStatus?: (standing: ServiceStatus) => void;
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
   * away, or can't do it. `standstill`: why no request is sent; null while requests are sent.
   */
  | {
      readonly kind: 'full' | 'far' | 'paused' | 'away';
      readonly retryInMs: DurationMs;
      readonly standstill: string | null;
    };

type Pause =
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

// A 429 met all the same adds half of that again, for a while.
const extraMargin = { extraStep: 0.02, extraMax: 0.25, halfLifeMs: 300_000 };

// Of the 40 ms that the margin leaves in a second, a quarter may be spent between the slot and its reservation, a
// quarter until the request is handed out, and the rest is the network's.
const missedMaxMs = (1_000 * marginShare) / 4;

/** A slot that is older than this when its request could leave is not used: late ones would leave in a burst. */
export const lateMaxMs: DurationMs = 2 * missedMaxMs;

// A slot is reserved when it is this near; one taken further ahead is lost with every stall.
const horizonMs = 100;

// One call takes several slots only when they follow each other at once, which saves calls at high rates.
const moreHorizonMs = 10;

// How soon to look again when all permits are out: about as often as slots come.
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
  const { commands, requestsPerSecond, concurrentRequests = 10, permitLifeMs = 60_000 } = parts;
  const { firstMs, maxMs } = parts.pauseGrowth ?? { firstMs: 1_000, maxMs: 60_000 };
  const keys = apiBudgetKeys(parts.keyPrefix, parts.accessId);
  const spacingMs = 1_000 / requestsPerSecond;
  const faults = parts.faults ?? untoldFaults;
  const redisTime = makeRedisTime();
  const nextPermit = makeWriteMarks();
  const held = new Set<string>();
  let returned: string[] = [];
  let reportSuccess = false;
  const standing = makeStatusWatch({
    readDown: async () => (await commands.hget(keys.state, 'down')) ?? '',
    onStatus: parts.onStatus,
    onFailed: (error) => faults.met(faultName, error),
  });

  const terms = {
    spacingUs: spacingMs * 1_000,
    marginShare,
    missedMaxUs: missedMaxMs * 1_000,
    horizonUs: horizonMs * 1_000,
    moreHorizonUs: moreHorizonMs * 1_000,
    slackMaxUs: heldMaxMs * 1_000,
    halfLifeMs: extraMargin.halfLifeMs,
    permitsMax: concurrentRequests,
    permitLifeMs,
  };

  function takeReturned(): readonly string[] {
    const taken = returned;
    returned = [];
    return taken;
  }

  async function flushReturned(): Promise<void> {
    const given = takeReturned();
    // Lost ones come back by themselves when their life is over.
    if (given.length === 0) return;
    await commands.zrem(keys.permits, ...given).catch((error: unknown) => faults.met(faultName, error));
  }

  function judge(kind: 'full' | 'far' | 'paused', waitMs: DurationMs, down: string): Reservation {
    // When one request at a time may go, a full house is a standstill too.
    const standstill = down === '' ? 'The service asked for a pause.' : serviceIsDown(down);
    if (kind === 'full') {
      const retryInMs = Math.min(Math.max(spacingMs, fullRetryMs.min), fullRetryMs.max);
      return { kind, retryInMs, standstill: reportSuccess ? standstill : null };
    }
    if (kind === 'paused') return { kind, retryInMs: Math.min(waitMs + 1, pausedRetryMaxMs), standstill };
    // Spread, so that of several daemons not always the same one asks first.
    return {
      kind: 'far',
      retryInMs: waitMs - horizonMs * (0.5 + Math.random() * 0.25),
      standstill: null,
    };
  }

  return {
    reserve: async (count, slackMs) => {
      const given = takeReturned();
      const permits = Array.from({ length: count }, nextPermit);
      // Of a process that is late, also its idea of Redis's clock is vague; it is infinitely so before the first answer.
      const heldMs = slackMs === 0 ? 0 : Math.min(slackMs + redisTime.uncertaintyMs(), heldMaxMs);
      const args = { ...terms, given, wanted: permits, slackUs: Math.ceil(heldMs * 1_000) };
      const sentAt = performance.now();
      try {
        const reply = await runScript(commands, reserveScript, { keys, args });
        const [nowUs, kind, waitUs, report, down, slotsUs] = reply;
        redisTime.observe({ sentAt, receivedAt: performance.now(), redisAt: nowUs / 1_000 });
        reportSuccess = report === 1;
        standing.learn(down);
        faults.over(faultName);
        if (kind !== 'granted') return judge(kind, waitUs / 1_000, down);
        const slots = slotsUs.map((us, index) => {
          const permit = permits[index] ?? '';
          held.add(permit);
          return { permit, at: redisTime.toMonotonic(us / 1_000) };
        });
        return { kind, slots, single: reportSuccess, isProbe: down !== '' };
      } catch (error) {
        // Of an outage the connection tells why.
        faults.met(faultName, error);
        returned.push(...given);
        const standstill = isRedisOutage(error) ? budgetIsAway : budgetFails;
        return { kind: 'away', retryInMs: awayRetryMs, standstill };
      }
    },

    giveBack: (permit) => {
      if (!held.delete(permit)) return;
      returned.push(permit);
      // The next reservation takes it along; when none comes in this turn, it goes alone.
      if (returned.length === 1) setImmediate(() => void flushReturned());
    },

    pause: async (pause) => {
      const args = { forMs: 0, reason: '', ...pause, firstMs, maxMs, ...extraMargin };
      const lastsMs = await runScript(commands, pauseScript, { keys, args });
      reportSuccess = true;
      if (pause.kind === 'down') standing.learn(pause.reason);
      return lastsMs;
    },

    succeeded: async () => {
      // Nearly every request succeeds, and nearly never does that change anything.
      if (!reportSuccess) return;
      reportSuccess = false;
      if (await runScript(commands, succeededScript, { keys, args: {} })) standing.learn('');
    },

    serviceUp: async () => {
      if (await runScript(commands, serviceUpScript, { keys, args: {} })) standing.learn('');
    },

    learnStatus: () => standing.look(),

    close: async () => {
      standing.close();
      returned.push(...held);
      held.clear();
      const late = new Promise((resolve) => setTimeout(resolve, awayRetryMs).unref());
      await Promise.race([flushReturned(), late]);
    },
  };
}
