import { randomUUID } from 'node:crypto';
import type { DurationMs } from '../../base/time.ts';
import type { Fence, LeaderLease } from '../../orchestrator/ports/leader.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { type RedisFaults, untoldFaults } from '../connection/faults.ts';
import { runScript } from '../connection/script.ts';
import { acquireLeaseScript, releaseLeaseScript } from './scripts.ts';

export interface LeaderLeaseParts {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  /** After this long without a renewal another daemon may lead. */
  readonly leaseMs?: DurationMs;
  /** Milliseconds that never jump; the machine's monotonic clock unless a test brings its own. */
  readonly monotonicNow?: () => number;
  /** Told when what we held ran out without a renewal: Redis is away, and whoever leads may hang in a pass until it is back. */
  readonly onLapsed?: () => void;
  /** Told of what no waiting for Redis mends. */
  readonly faults?: RedisFaults;
}

const faultName = 'the leader lease';

// A leader that is killed is followed within this time and one renewal (DESIGN P11: in seconds).
const defaultLeaseMs: DurationMs = 3_000;

// Half a second of three: what a pass may still write after it asked. The fence refuses what comes later still.
const safetyShare = 1 / 6;

/**
 * The leader lease in Redis. The first `hold` begins to try for it; from then on it is renewed, or tried for, each
 * third of its length. It counts from before the renewal was sent, by a clock that never jumps, so a slow answer or a
 * stopped process makes it end early, never late.
 */
export function makeRedisLeaderLease(parts: LeaderLeaseParts): LeaderLease {
  const { commands, keyPrefix, leaseMs = defaultLeaseMs } = parts;
  const monotonicNow = parts.monotonicNow ?? (() => performance.now());
  const faults = parts.faults ?? untoldFaults;
  const keys = { lease: `${keyPrefix}:{leader}:lease`, epoch: `${keyPrefix}:{leader}:epoch` };
  const owner = randomUUID();
  const beatMs = leaseMs / 3;
  let held: { readonly fence: Fence; readonly until: number } | undefined;
  let beating: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let released = false;
  let restsUntil = Number.NEGATIVE_INFINITY;
  let expiry: NodeJS.Timeout | undefined;
  // Whoever asks next is told once that it was lost, though it may have been renewed since.
  let hasLapsed = false;

  const fenceNow = (): Fence | undefined =>
    held !== undefined && monotonicNow() < held.until - leaseMs * safetyShare ? held.fence : undefined;

  async function beat(): Promise<void> {
    const sentAt = monotonicNow();
    if (sentAt < restsUntil) return;
    try {
      const fence = await runScript(commands, acquireLeaseScript, {
        keys,
        args: { owner, leaseMs: Math.round(leaseMs) },
      });
      faults.over(faultName);
      if (released) await giveUp();
      else if (monotonicNow() >= restsUntil) {
        held = fence === null ? undefined : { fence, until: sentAt + leaseMs };
        if (held !== undefined) watchExpiry();
      }
    } catch (error) {
      // Of an outage the connection tells. What we hold runs out by itself.
      faults.met(faultName, error);
    }
  }

  function watchExpiry(): void {
    clearTimeout(expiry);
    expiry = setTimeout(() => {
      // A timer may be early by the other clock, or late by a stopped process.
      if (released || fenceNow() !== undefined) return;
      hasLapsed = true;
      parts.onLapsed?.();
    }, leaseMs).unref();
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
        timer = setInterval(() => void beatOnce(), beatMs);
        timer.unref();
        void beatOnce();
      }
      if (hasLapsed) {
        hasLapsed = false;
        return undefined;
      }
      if (held === undefined && beating !== undefined) await within(beatMs, beating);
      return fenceNow();
    },
    giveWay: async (forMs) => {
      // Also for an attempt that is under way: its answer comes before the lease is given up, and counts no more.
      restsUntil = monotonicNow() + forMs;
      held = undefined;
      clearTimeout(expiry);
      await within(leaseMs, giveUp().then(noop, noop));
    },
    release: async () => {
      released = true;
      held = undefined;
      clearInterval(timer);
      clearTimeout(expiry);
      // An attempt that is under way gives up by itself when it lands; when Redis is away, the lease runs out.
      const met = (error: unknown) => faults.met(faultName, error);
      await within(leaseMs, giveUp().then(noop, met));
    },
  };
}

/** Waits for something, but not longer: a Redis that is away must not stop the one who asks. */
async function within(forMs: DurationMs, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, forMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

function noop(): void {
  // Nothing to do.
}
