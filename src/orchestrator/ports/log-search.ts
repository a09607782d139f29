import type { EpochMs } from '../../base/time.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

export interface LogQuestion {
  /** An aggregate query, which returns records and not messages. */
  readonly query: string;
  /** By the instants at which the service received the messages. */
  readonly from: EpochMs;
  readonly to: EpochMs;
}

/** One row of an aggregate: its columns by name. */
export type LogRecord = Readonly<Record<string, string>>;

export type LogAnswer =
  | { readonly kind: 'records'; readonly records: readonly LogRecord[] }
  | { readonly kind: 'failed'; readonly failure: ServiceFailure }
  /** The account's type has no Search Job interface (collector-api.md §5.6). */
  | { readonly kind: 'forbidden' }
  /** The service no longer knows the job: the cookie was lost, or the service gave it up. */
  | { readonly kind: 'lost' }
  /** The job ended without results. */
  | { readonly kind: 'ended'; readonly state: string }
  /** The job took too long. */
  | { readonly kind: 'unfinished' }
  /** Parts of the messages could not be read. */
  | { readonly kind: 'partial'; readonly errors: readonly string[] }
  | { readonly kind: 'tooMany'; readonly recordsMax: number }
  | { readonly kind: 'unreadable' };

/** Searches the messages that collectors delivered, by search jobs of the service (collector-api.md §4.5). Never throws. */
export interface LogSearch {
  run(question: LogQuestion, signal: AbortSignal): Promise<LogAnswer>;
}
