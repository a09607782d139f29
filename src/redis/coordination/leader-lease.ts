import { randomUUID } from 'node:crypto';
import type { DurationMs } from '../../base/time.ts';
import { within } from '../../base/waiting.ts';
import type { Fence, LeaderLease } from '../../orchestrator/ports/leader.ts';
import type { RedisCommands } from '../connection/connection.ts';
import type { RedisFaults } from '../connection/faults.ts';
import { runScript } from '../connection/script.ts';
import { acquireLeaseScript, releaseLeaseScript } from './scripts.ts';

export interface LeaderLeaseParts {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  /** After this long without a renewal another daemon may lead. */
  readonly leaseMs?: DurationMs;
  /** Milliseconds that never jump; the machine's monotonic clock unless a test brings its own. */
  readonly monotonicNow?: () => number;
  /** Reported when what we held ran out without a renewal: Redis is away, and whoever leads may hang in a pass until it is back. */
  readonly onLapsed?: () => void;
  /** Reported when the lease is ours after it was not: whoever waits for it may go on. */
  readonly onTaken?: () => void;
  /** Reported of what no waiting for Redis repairs. */
  readonly faults?: RedisFaults;
}

const faultName = 'the leader lease';

// A leader that is killed is followed within this time and one renewal (DESIGN P11: in seconds).
const defaultLeaseMs: DurationMs = 3_000;

// Redis ends a key within a millisecond of its time, and timers are as exact.
const endMarginMs: DurationMs = 5;

// Half a second of three: what a pass may still write after it asked. The fence refuses what comes later still.
const safetyShare = 1 / 6;

/**
 * The leader lease in Redis. The first `hold` begins to try for it; from then on it is renewed, or tried for, each
 * third of its length, and when that of another daemon runs out. It counts from before the renewal was sent, by a clock
 * that never jumps, so a slow answer or a stopped process makes it end early, never late.
 */
export function makeRedisLeaderLease(parts: LeaderLeaseParts): LeaderLease {
  const { commands, keyPrefix, leaseMs = defaultLeaseMs, faults } = parts;
  const monotonicNow = parts.monotonicNow ?? (() => performance.now());
  const keys = { lease: `${keyPrefix}:{leader}:lease`, epoch: `${keyPrefix}:{leader}:epoch` };
  const owner = randomUUID();
  const beatMs = leaseMs / 3;
  const held = makeHeldLease({ leaseMs, monotonicNow, onLapsed: parts.onLapsed });
  let beating: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let atEnd: NodeJS.Timeout | undefined;
  let released = false;
  let restsUntil = Number.NEGATIVE_INFINITY;

  async function beat(): Promise<void> {
    const sentAt = monotonicNow();
    if (sentAt < restsUntil) return;
    try {
      const args = { owner, leaseMs: Math.round(leaseMs) };
      const answer = await runScript(commands, acquireLeaseScript, { keys, args });
      faults?.over(faultName);
      if (released) await giveUp();
      else if (answer < 0) waitForEnd(-answer);
      else if (monotonicNow() >= restsUntil && held.renew(answer, sentAt)) parts.onTaken?.();
    } catch (error) {
      // The connection reports an outage. What we hold runs out by itself.
      faults?.met(faultName, error);
    }
  }

  /** Another daemon leads. Where it was killed, its lease runs out before our next beat. */
  function waitForEnd(leftMs: DurationMs): void {
    held.lose();
    clearTimeout(atEnd);
    if (leftMs < beatMs) atEnd = setTimeout(() => void beatOnce(), leftMs + endMarginMs).unref();
  }

  function beatOnce(): Promise<void> {
    beating ??= beat().finally(() => {
      beating = undefined;
    });
    return beating;
  }

  function giveUp(): Promise<unknown> {
    return runScript(commands, releaseLeaseScript, { keys, args: { owner } });
  }

  return {
    hold: async () => {
      if (released) return undefined;
      if (timer === undefined) {
        timer = setInterval(() => void beatOnce(), beatMs).unref();
        void beatOnce();
      }
      if (held.takeLapse()) return undefined;
      // A Redis that is away must not stop the one who asks.
      if (!held.isHeld() && beating !== undefined) await within(beatMs, beating);
      return held.fence();
    },
    giveWay: async (forMs) => {
      // Also for an attempt that is under way: its answer comes before the lease is given up, and counts no more.
      restsUntil = monotonicNow() + forMs;
      held.drop();
      await within(leaseMs, giveUp()).catch(noop);
    },
    release: async () => {
      released = true;
      held.drop();
      clearInterval(timer);
      clearTimeout(atEnd);
      // An attempt that is under way gives up by itself when it lands; when Redis is away, the lease runs out.
      const met = (error: unknown) => faults?.met(faultName, error);
      await within(leaseMs, giveUp().then(noop, met));
    },
  };
}

/** What this daemon knows of the lease: the fence, until when, and whether it ran out without a renewal. */
function makeHeldLease(parts: {
  readonly leaseMs: DurationMs;
  readonly monotonicNow: () => number;
  readonly onLapsed: (() => void) | undefined;
}) {
  const { leaseMs, monotonicNow, onLapsed } = parts;
  let held: { readonly fence: Fence; readonly until: number } | undefined;
  let expiry: NodeJS.Timeout | undefined;
  let hasLapsed = false;

  const fence = (): Fence | undefined =>
    held !== undefined && monotonicNow() < held.until - leaseMs * safetyShare ? held.fence : undefined;

  function watchExpiry(): void {
    clearTimeout(expiry);
    expiry = setTimeout(() => {
      // A timer may be early by the other clock, or late by a stopped process.
      if (fence() !== undefined) return;
      hasLapsed = true;
      onLapsed?.();
    }, leaseMs).unref();
  }

  return {
    fence,
    isHeld: () => held !== undefined,
    /** @returns whether it was not held before */
    renew: (taken: Fence, sentAt: number): boolean => {
      const isNew = held?.fence !== taken;
      held = { fence: taken, until: sentAt + leaseMs };
      watchExpiry();
      return isNew;
    },
    /** Another daemon leads: what we held runs out, and says so then. */
    lose: (): void => {
      held = undefined;
    },
    drop: (): void => {
      held = undefined;
      clearTimeout(expiry);
    },
    /** True once after the lease ran out, though it may have been renewed since. */
    takeLapse: (): boolean => {
      const lapsed = hasLapsed;
      hasLapsed = false;
      return lapsed;
    },
  };
}

function noop(): void {
  // Nothing to do.
}
