import type { EpochMs } from '../../base/time.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

export interface LogQuestion {
  /** An aggregate query: it gives records, not messages. */
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
  /** The service does not know the job any more: its cookie was lost, or it gave the job up. */
  | { readonly kind: 'lost' }
  /** The job ended otherwise than with its results. */
  | { readonly kind: 'ended'; readonly state: string }
  /** It gathered for too long. */
  | { readonly kind: 'unfinished' }
  /** Parts of the messages could not be read. */
  | { readonly kind: 'partial'; readonly errors: readonly string[] }
  | { readonly kind: 'tooMany'; readonly recordsMax: number }
  | { readonly kind: 'unreadable' };

/** Searches the messages that collectors delivered, by search jobs of the service (collector-api.md §4.5). Never throws. */
export interface LogSearch {
  run(question: LogQuestion, signal: AbortSignal): Promise<LogAnswer>;
}
