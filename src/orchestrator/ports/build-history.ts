import type { EpochMs } from '../../base/time.ts';
import type { BuildRecord } from '../../rollout/report/build-record.ts';

/** Years of rollouts. Older records are dropped. */
export const buildRecordsMax = 1_000;

/** What builds have done in ended rollouts. It outlives the records of these rollouts. */
export interface BuildHistory {
  /** When each recorded rollout had ended, by its id. */
  recorded(): Promise<ReadonlyMap<string, EpochMs>>;
  /** Stores a record, or replaces that of the same rollout. */
  record(record: BuildRecord): Promise<void>;
  /** The records of the rollouts that ended last, newest first. */
  read(limit: number): Promise<readonly BuildRecord[]>;
}
