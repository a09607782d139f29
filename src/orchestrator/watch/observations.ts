import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { RowObservation } from '../../rollout/upgrade/facts.ts';
import { freshForMs } from '../../rollout/upgrade/step.ts';
import type { ListedPage } from '../ports/fleet-service.ts';

/** What pages of the inventory showed last of each collector: a collector that is admitted right after that needs no poll of its own. */
export interface Observations {
  note(page: ListedPage, at: EpochMs): void;
  /** Of the last minute; undefined when no page was read then, or it was on none. */
  find(collectorId: number, now: EpochMs): RowObservation | undefined;
}

const keptMs: DurationMs = freshForMs;

// More rows than an account has collectors, ten times over; some 20 MB.
const rowsMax = 100_000;

/** One row for each collector that was seen in the last minute. */
export function makeObservations(): Observations & { size(): number } {
  // In the order in which they were seen, so that those to be dropped come first.
  const rows = new Map<number, RowObservation>();
  const isOld = (row: RowObservation, now: EpochMs) => Math.abs(now - row.at) > keptMs;
  const forgetOld = (now: EpochMs) => {
    for (const [id, row] of rows) {
      if (rows.size <= rowsMax && !isOld(row, now)) break;
      rows.delete(id);
    }
  };
  return {
    note: ({ collectors, serviceAt }, at) => {
      for (const { id, build, alive, lastSeenAlive } of collectors) {
        rows.delete(id);
        rows.set(id, { at, build, alive, lastSeenAlive: lastSeenAlive ?? null, serviceAt });
      }
      forgetOld(at);
    },
    find: (collectorId, now) => {
      forgetOld(now);
      const row = rows.get(collectorId);
      // A clock that was set back may have left one behind a newer one.
      return row === undefined || isOld(row, now) ? undefined : row;
    },
    size: () => rows.size,
  };
}
