import type { EpochMs } from '../../base/time.ts';

/** A poll of the upgraded collectors of a wave that soaks. */
export interface SoakCheck {
  /** When it began: what it saw was so at this instant or later. */
  readonly at: EpochMs;
  /** Collectors that had missed heartbeats, but not for long enough to be counted as dead. */
  readonly silent: number;
  /** Polls in a row without an answer. */
  readonly failedPolls: number;
}

/** What a gate has answered so far. */
export interface GateAnswers {
  readonly askedAt: EpochMs | null;
  /** Since when it has been asked without a break. */
  readonly watchedSince: EpochMs | null;
  readonly verdict: 'unasked' | 'met' | 'missed' | 'hold' | 'error';
  /** Since when the verdict is the same without a break. */
  readonly since: EpochMs | null;
  /** The last value of a query. */
  readonly value: number | null;
  /** The last answer in words. */
  readonly detail: string;
  readonly errorsInRow: number;
  /** Its answers over time, oldest first, for a person who judges a trend. */
  readonly samples: readonly GateSample[];
}

/** One answer of a gate. */
export interface GateSample {
  readonly at: EpochMs;
  readonly verdict: Exclude<GateAnswers['verdict'], 'unasked'>;
  /** Of a query; null where it had none. */
  readonly value: number | null;
}
