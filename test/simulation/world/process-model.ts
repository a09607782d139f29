import { makeSteadyClock } from '../../../src/base/steady-clock.ts';
import type { Clocks } from '../../../src/base/stopwatch.ts';
import type { Clock } from '../../../src/base/time.ts';
import { makeClockWatch } from '../../../src/redis/connection/clock-watch.ts';
import { noFaults } from '../../support/redis/redis-adapters.ts';
import type { Scheduler } from './scheduler.ts';

/** Whose fleet a daemon's access key shows. */
export type Account = 'ours' | 'other';

/** What a host's config file says when a daemon starts on it. */
export interface Host {
  readonly account: Account;
  /** Counts the keys that the account's access was given: the same account under another access id. */
  readonly accessKey: number;
  /** The newest config has the highest. */
  readonly config: number;
}

/** What a rollout remembers of the access id that planned it. */
export function accessIdHash(account: Account, accessKey: number): string {
  return `${account}/${accessKey}`;
}

/** One life of a daemon: its coroutines go on only while it lives, and stand still while it is stalled. */
export interface ProcessModel {
  readonly name: string;
  readonly host: Host;
  /** Its own clock, which may be some seconds off, but does not follow a jump (decision 56). */
  readonly clock: Clock;
  /** The clocks of its machine: the wall clock may be set, and the monotonic one does not count a suspension. */
  readonly clocks: Clocks;
  /** Whether it may lead, run steps and plan. */
  isClockRight(): boolean;
  /** Compares its clock with that of the store, as it does every two seconds while it seems wrong. */
  compareClocks(): Promise<boolean>;
  isAlive(): boolean;
  /** Resolves after this time, later when it is stalled then, never when it is dead. */
  wait(forMs: number): Promise<void>;
  /** The same for something that comes from outside, such as an answer. */
  goOn(go: () => void): void;
  stall(forMs: number): void;
  /** Its machine is suspended: it stalls, and its monotonic clock stands still. */
  suspend(forMs: number): void;
  stalledUntil(): number;
  crash(): void;
  setClock(offsetMs: number): void;
  /** It has read another config. */
  setConfig(config: number): void;
}

const compareEveryMs = 2_000;

export function makeProcess(
  name: string,
  host: Host,
  scheduler: Scheduler,
  clockOffsetMs: number,
  /** With a bug: it follows the jumps of its wall clock. */
  followsJumps = false,
): ProcessModel {
  let alive = true;
  let stalledUntil = 0;
  let offset = clockOffsetMs;
  let suspendedMs = 0;
  const own = { ...host };
  const clocks: Clocks = {
    wallNow: () => scheduler.now() + offset,
    monotonicNow: () => scheduler.now() - suspendedMs,
  };
  const steady = makeSteadyClock(clocks);
  const clock = followsJumps ? { ...steady, now: clocks.wallNow } : steady;
  const watch = makeClockWatch({
    // The store's clock is the true one.
    commands: { time: async () => [Math.floor(scheduler.now() / 1_000), (scheduler.now() % 1_000) * 1_000] },
    clock,
    onWrong: () => {},
    onRight: () => {},
    faults: noFaults,
  });
  // As each daemon does at its start.
  void watch.compare();
  const compareUntilRight = (): void => {
    scheduler.at(scheduler.now() + compareEveryMs, () => {
      if (!alive) return;
      if (stalledUntil <= scheduler.now()) void watch.compare();
      if (watch.wrong() !== undefined || !watch.isRight() || watch.hasJumped()) compareUntilRight();
    });
  };
  const goOn = (go: () => void): void => {
    if (!alive) return;
    if (stalledUntil > scheduler.now()) scheduler.at(stalledUntil, () => goOn(go));
    else go();
  };
  return {
    name,
    host: own,
    clock,
    clocks,
    isClockRight: watch.isRight,
    compareClocks: watch.compareUnlessRight,
    isAlive: () => alive,
    wait: (forMs) =>
      new Promise((resolve) => scheduler.at(scheduler.now() + Math.max(0, forMs), () => goOn(resolve))),
    goOn,
    stall: (forMs) => {
      stalledUntil = Math.max(stalledUntil, scheduler.now() + forMs);
    },
    stalledUntil: () => stalledUntil,
    suspend: (forMs) => {
      stalledUntil = Math.max(stalledUntil, scheduler.now() + forMs);
      suspendedMs += forMs;
      compareUntilRight();
    },
    crash: () => {
      alive = false;
    },
    setClock: (offsetMs) => {
      offset = offsetMs;
      if (clock.hasJumped() || watch.wrong() !== undefined) compareUntilRight();
    },
    setConfig: (config) => {
      own.config = config;
    },
  };
}
