import type { EpochMs } from '../../base/time.ts';

/** A poll of the upgraded collectors of a soaking wave. */
export interface SoakCheck {
  /** When the poll began. Its findings are from this instant or later. */
  readonly at: EpochMs;
  /** Collectors without recent heartbeats, but not for long enough to count as dead. */
  readonly silent: number;
  /** Polls in a row without an answer. */
  readonly failedPolls: number;
}

/** The answers of a gate so far. */
export interface GateAnswers {
  readonly askedAt: EpochMs | null;
  /** Since when it has been asked without interruption. */
  readonly watchedSince: EpochMs | null;
  readonly verdict: 'unasked' | 'met' | 'missed' | 'hold' | 'error';
  /** Since when the verdict has been the same. */
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
  /** The value of a query; null without one. */
  readonly value: number | null;
}
