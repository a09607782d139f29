import type { DurationMs } from '../../base/time.ts';

/** The leader's fence: a write under an older one is refused, so a leader that slept past its lease changes nothing. */
export type Fence = number;

/** The leader lease: at most one holder over all daemons, renewed while it lives. */
export interface LeaderLease {
  /** The fence of our leadership while the lease has enough life left to act; undefined when another leads. */
  hold(): Promise<Fence | undefined>;
  /** Gives it to whoever tries for it within this time; then this daemon tries again. */
  giveWay(forMs: DurationMs): Promise<void>;
  release(): Promise<void>;
}

/**
 * Work that must not hold the leader's loop up: at most one for each key at a time, and one that came to nothing
 * (`again`) not at once again.
 */
export interface BackgroundTasks {
  /** Begins the work unless that key's is still on its way; it may have ended when this returns. */
  run(key: string, work: (signal: AbortSignal) => Promise<'done' | 'again'>): Promise<void>;
}
