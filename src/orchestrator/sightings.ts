import type { DurationMs, EpochMs } from '../base/time.ts';
import type { RowSighting } from '../rollout/facts.ts';
import { freshForMs } from '../rollout/next-step.ts';
import type { InventoryPage } from './ports/fleet-service.ts';

/** What pages of the inventory showed last of each collector: who is admitted right after that needs no look of its own. */
export interface Sightings {
  note(page: InventoryPage, at: EpochMs): void;
  /** Of the last minute; undefined when no page was read then, or it was on none. */
  find(collectorId: number, now: EpochMs): RowSighting | undefined;
}

const keptMs: DurationMs = freshForMs;

/** One row for each collector of the fleet: what is older is replaced by the next reading, or not used any more. */
export function makeSightings(): Sightings {
  const rows = new Map<number, RowSighting>();
  return {
    note: ({ collectors, serviceAt }, at) => {
      for (const { id, build, alive, lastSeenAlive } of collectors)
        rows.set(id, { at, build, alive, lastSeenAlive: lastSeenAlive ?? null, serviceAt });
    },
    find: (collectorId, now) => {
      const row = rows.get(collectorId);
      return row !== undefined && Math.abs(now - row.at) <= keptMs ? row : undefined;
    },
  };
}
