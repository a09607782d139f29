import type { EpochMs } from '../../base/time.ts';

/** Wakes the reconcilers of all daemons soon; may be lost. */
export interface WakeUps {
  ring(): void;
}

/** Delivers steps. Losing or doubling a delivery is harmless: the record is the truth. */
export interface StepQueue {
  /** Makes sure that a job exists for each of these; one that exists already is left alone. */
  deliver(rolloutId: string, collectorIds: readonly number[]): Promise<void>;
  /**
   * For steps that are due by now: a job that waits for a later instant runs now; one that is missing, or in no list
   * from which it could be taken, is made anew; any other is left alone.
   */
  bringForward(rolloutId: string, collectorIds: readonly number[]): Promise<void>;
}

/** What a step job does next: come back at an instant, or end. */
export type StepOutcome = { readonly job: 'comeBack'; readonly at: EpochMs } | { readonly job: 'end' };
