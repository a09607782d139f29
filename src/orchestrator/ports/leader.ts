import type { DurationMs, EpochMs } from '../../base/time.ts';

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
  /** Begins the work unless that key's is still running; it may have ended when this returns. */
  run(key: string, work: (signal: AbortSignal) => Promise<'done' | 'again'>): Promise<void>;
}

/** Wakes the reconcilers of all daemons soon; may be lost. */
export interface WakeUps {
  wake(): void;
}

/** Delivers steps. Losing or doubling a delivery is harmless: the record is the truth. */
export interface StepQueue {
  /** Makes sure that a job exists for each of these; one that exists already is left alone. */
  deliver(rolloutId: string, collectorIds: readonly number[]): Promise<void>;
  /**
   * For steps that are due by now: a job that waits for a later instant runs now; one that is missing, or in no list
   * from which it could be taken, is made again; any other is left alone.
   */
  bringForward(rolloutId: string, collectorIds: readonly number[]): Promise<void>;
}

/** What a step job does next: come back at an instant, or end. */
export type StepOutcome = { readonly job: 'comeBack'; readonly at: EpochMs } | { readonly job: 'end' };
