import type { DurationMs, EpochMs } from '../../base/time.ts';
import { dateStepMs } from '../../rollout/model/service-clock.ts';
import type { ListedOffer, RowObservation } from '../../rollout/upgrade/facts.ts';
import { freshForMs } from '../../rollout/upgrade/step.ts';
import type { ListedPage } from '../ports/fleet-service.ts';

/** The last row of each collector. A collector that is admitted right after it needs no poll of its own. */
export interface Observations {
  /** @param listedAt when the reading of the page's upgradable list began; absent: the page is from the inventory */
  note(page: ListedPage, at: EpochMs, listedAt?: EpochMs): void;
  /** The row of the last minute; undefined when no page of that time had the collector. */
  find(collectorId: number, now: EpochMs): RowObservation | undefined;
}

const keptMs: DurationMs = freshForMs;

// Ten times as many rows as an account has collectors: about 20 MB.
const rowsMax = 100_000;

interface Kept {
  readonly row: RowObservation;
  /** The earliest offer that no known heartbeat follows. */
  readonly unheard: ListedOffer | undefined;
}

/** Keeps one row for each collector that was seen in the last minute. */
export function makeObservations(): Observations & { size(): number } {
  // In the order of observation: the oldest rows, which are dropped first, come first.
  const kept = new Map<number, Kept>();
  const isOld = ({ row }: Kept, now: EpochMs) => Math.abs(now - row.at) > keptMs;
  const forgetOld = (now: EpochMs) => {
    for (const [id, each] of kept) {
      if (kept.size <= rowsMax && !isOld(each, now)) break;
      kept.delete(id);
    }
  };
  return {
    note: ({ collectors, serviceAt }, at, listedAt) => {
      const listed =
        listedAt === undefined || serviceAt === null
          ? undefined
          : { at: listedAt, offeredAt: serviceAt + dateStepMs };
      for (const { id, build, alive, lastSeenAlive = null } of collectors) {
        const before = kept.get(id);
        const unheard = before?.unheard;
        const isHeard = unheard !== undefined && (lastSeenAlive ?? 0) > unheard.offeredAt;
        const offered = isHeard ? unheard : before?.row.offered;
        kept.delete(id);
        kept.set(id, {
          row: { at, build, alive, lastSeenAlive, serviceAt, offered },
          unheard: isHeard ? listed : (unheard ?? listed),
        });
      }
      forgetOld(at);
    },
    find: (collectorId, now) => {
      forgetOld(now);
      const found = kept.get(collectorId);
      // A clock that was set back may have put an older row behind a newer one.
      return found === undefined || isOld(found, now) ? undefined : found.row;
    },
    size: () => kept.size,
  };
}
