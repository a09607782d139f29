import { randomUUID } from 'node:crypto';
import { type Clocks, type Stopwatch, startStopwatch } from '../../base/stopwatch.ts';
import type { DurationMs } from '../../base/time.ts';
import { waitAtMost } from '../../base/waiting.ts';
import type { Fence, LeaderLease } from '../../orchestrator/ports/leader.ts';
import type { RedisCommands } from '../connection/connection.ts';
import type { RedisFaults } from '../connection/faults.ts';
import { runScript } from '../connection/script.ts';
import { acquireLeaseScript, releaseLeaseScript } from './scripts.ts';

export interface LeaderLeaseParts {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  /** After this time without a renewal another daemon may lead. */
  readonly leaseMs?: DurationMs;
  /** False: it is not taken, and returned if it is held. */
  readonly mayLead: () => boolean;
  /** Default: the machine's. */
  readonly clocks?: Clocks;
  /**
   * Called when the lease expires without a renewal: Redis is unreachable, and the leader's loop may hang until it is back.
   */
  readonly onLapsed: () => void;
  /** Called when this daemon acquires the lease. */
  readonly onTaken: () => void;
  /** Receives faults of Redis that need a person. */
  readonly faults: RedisFaults;
}

const faultName = 'the leader lease';

// A killed leader is replaced within this time and one renewal (DESIGN P11: in seconds).
const defaultLeaseMs: DurationMs = 3_000;

// Redis expires a key within a millisecond, and timers are about as exact.
const endMarginMs: DurationMs = 5;

// Half a second of three: time for writes that began before the lease was checked. The fence refuses later ones.
const safetyShare = 1 / 6;

/**
 * The leader lease in Redis. The first `hold` starts trying to acquire it. From then on it is renewed, or retried, each
 * third of its length, and when another daemon's lease expires. Its end is computed from before the renewal was sent, by
 * both clocks of the machine, so a slow reply, a stopped process or a suspended machine makes it end early, never late.
 */
export function makeRedisLeaderLease(parts: LeaderLeaseParts): LeaderLease {
  const { commands, keyPrefix, leaseMs = defaultLeaseMs, faults, mayLead } = parts;
  const keys = { lease: `${keyPrefix}:{leader}:lease`, epoch: `${keyPrefix}:{leader}:epoch` };
  const owner = randomUUID();
  const beatMs = leaseMs / 3;
  const held = makeHeldLease({ leaseMs, onLapsed: parts.onLapsed });
  let beating: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let atEnd: NodeJS.Timeout | undefined;
  let released = false;
  let isPaused = () => false;

  async function beat(): Promise<void> {
    if (isPaused()) return;
    if (!mayLead()) return stepBack();
    const ageMs = startStopwatch(parts.clocks);
    try {
      const args = { owner, leaseMs: Math.round(leaseMs) };
      const answer = await runScript(commands, acquireLeaseScript, { keys, args });
      faults.over(faultName);
      if (released) await giveUp();
      else if (answer < 0) waitForEnd(-answer);
      else if (!isPaused() && held.renew(answer, ageMs)) parts.onTaken();
    } catch (error) {
      // The connection reports an outage. The lease expires by itself.
      faults.met(faultName, error);
    }
  }

  /** Another daemon leads. If it was killed, its lease may expire before the next heartbeat. */
  function waitForEnd(leftMs: DurationMs): void {
    held.lose();
    clearTimeout(atEnd);
    if (leftMs < beatMs) atEnd = setTimeout(() => void beatOnce(), leftMs + endMarginMs).unref();
  }

  /** Another daemon need not wait until the lease expires. Without Redis it does. */
  async function stepBack(): Promise<void> {
    if (!held.isHeld()) return;
    held.drop();
    await giveUp().catch((error: unknown) => faults.met(faultName, error));
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
      if (held.takeLapse() || !mayLead()) return undefined;
      // An unreachable Redis must not block the caller.
      if (!held.isHeld() && beating !== undefined) await waitAtMost(beatMs, beating);
      return held.fence();
    },
    giveWay: async (forMs) => {
      // Also ignores an attempt in flight: its reply comes before the release, and no longer counts.
      const pausedMs = startStopwatch(parts.clocks);
      isPaused = () => pausedMs() < forMs;
      held.drop();
      await waitAtMost(leaseMs, giveUp()).catch(() => undefined);
    },
    release: async () => {
      released = true;
      held.drop();
      clearInterval(timer);
      clearTimeout(atEnd);
      // An attempt in flight releases the lease when its reply comes. Without Redis, the lease expires.
      const met = (error: unknown) => faults.met(faultName, error);
      await waitAtMost(leaseMs, giveUp().catch(met));
    },
  };
}

/** This daemon's knowledge of the lease: the fence, its end, and whether it expired without a renewal. */
function makeHeldLease(parts: { readonly leaseMs: DurationMs; readonly onLapsed: () => void }) {
  const { leaseMs, onLapsed } = parts;
  let held: { readonly fence: Fence; readonly ageMs: Stopwatch } | undefined;
  let expiry: NodeJS.Timeout | undefined;
  let hasLapsed = false;

  const fence = (): Fence | undefined =>
    held !== undefined && held.ageMs() < leaseMs - leaseMs * safetyShare ? held.fence : undefined;

  function watchExpiry(): void {
    clearTimeout(expiry);
    expiry = setTimeout(() => {
      // A timer may be early, or late in a stopped process.
      if (fence() !== undefined) return;
      hasLapsed = true;
      onLapsed();
    }, leaseMs).unref();
  }

  return {
    fence,
    isHeld: () => held !== undefined,
    /** @returns true when it was not held before */
    renew: (taken: Fence, ageMs: Stopwatch): boolean => {
      const isNew = held?.fence !== taken;
      held = { fence: taken, ageMs };
      watchExpiry();
      return isNew;
    },
    /** Another daemon leads. `onLapsed` is still called at the expiry. */
    lose: (): void => {
      held = undefined;
    },
    drop: (): void => {
      held = undefined;
      clearTimeout(expiry);
    },
    /** True once after the lease expired, even if it was renewed since. */
    takeLapse: (): boolean => {
      const lapsed = hasLapsed;
      hasLapsed = false;
      return lapsed;
    },
  };
}
