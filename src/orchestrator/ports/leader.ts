import type { DurationMs, EpochMs } from '../../base/time.ts';

/** The leader's fence. Redis refuses writes with an older fence, such as those of a leader that was suspended. */
export type Fence = number;

/** The leader lease: at most one daemon holds it, and renews it while it is alive. */
export interface LeaderLease {
  /** Takes or renews the lease. @returns our fence; undefined if another daemon leads, or the lease is about to end */
  hold(): Promise<Fence | undefined>;
  /** Releases the lease for any other daemon. After this time, this daemon tries for it again. */
  giveWay(forMs: DurationMs): Promise<void>;
  release(): Promise<void>;
}

/**
 * Work that must not delay the leader's loop. At most one task runs for each key, and a task without a result (`again`) is
 * not repeated at once.
 */
export interface BackgroundTasks {
  /** Starts the task unless one with this key is running. It may have ended when this returns. */
  run(key: string, work: (signal: AbortSignal) => Promise<'done' | 'again'>): Promise<void>;
}

/** Sends a wake-up to the reconcilers of all daemons. It may be lost. */
export interface WakeUps {
  wake(): void;
}

/** Delivers steps. A lost or duplicate delivery is harmless, because the record is authoritative. */
export interface StepQueue {
  /** Ensures that a job exists for each of these. Existing jobs are left alone. */
  deliver(rolloutId: string, collectorIds: readonly number[]): Promise<void>;
  /**
   * For overdue steps: a job that waits for a later instant runs now. A job that is missing, or in no list from which a worker
   * could take it, is created again. Any other job is left alone.
   */
  bringForward(rolloutId: string, collectorIds: readonly number[]): Promise<void>;
}

/** What a step job does next: run again at an instant, or end. */
export type StepOutcome = { readonly job: 'comeBack'; readonly at: EpochMs } | { readonly job: 'end' };
