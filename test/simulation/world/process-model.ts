import type { Clock } from '../../../src/base/time.ts';
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
  /** Its own clock, which may be some seconds off. */
  readonly clock: Clock;
  isAlive(): boolean;
  /** Resolves after this time, later when it is stalled then, never when it is dead. */
  wait(forMs: number): Promise<void>;
  /** The same for something that comes from outside, such as an answer. */
  goOn(go: () => void): void;
  stall(forMs: number): void;
  stalledUntil(): number;
  crash(): void;
  setClock(offsetMs: number): void;
  /** It has read another config. */
  setConfig(config: number): void;
}

export function makeProcess(
  name: string,
  host: Host,
  scheduler: Scheduler,
  clockOffsetMs: number,
): ProcessModel {
  let alive = true;
  let stalledUntil = 0;
  let offset = clockOffsetMs;
  const own = { ...host };
  const goOn = (go: () => void): void => {
    if (!alive) return;
    if (stalledUntil > scheduler.now()) scheduler.at(stalledUntil, () => goOn(go));
    else go();
  };
  return {
    name,
    host: own,
    clock: { now: () => scheduler.now() + offset },
    isAlive: () => alive,
    wait: (forMs) =>
      new Promise((resolve) => scheduler.at(scheduler.now() + Math.max(0, forMs), () => goOn(resolve))),
    goOn,
    stall: (forMs) => {
      stalledUntil = Math.max(stalledUntil, scheduler.now() + forMs);
    },
    stalledUntil: () => stalledUntil,
    crash: () => {
      alive = false;
    },
    setClock: (offsetMs) => {
      offset = offsetMs;
    },
    setConfig: (config) => {
      own.config = config;
    },
  };
}
