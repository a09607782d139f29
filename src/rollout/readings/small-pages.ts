import type { DurationMs } from '../../base/time.ts';
import { usualSpread } from '../model/log-normal.ts';
import { heartbeatWaitMs } from '../upgrade/poll-schedule.ts';
import { freshForMs } from '../upgrade/step.ts';

/** What lists of small pages are read for. */
export interface SmallPagesLoad {
  /** How many requests a list takes. */
  readonly pages: number;
  /** Number of running tasks. */
  readonly running: number;
  /** Number of upgrades whose create needs a row, and how many of them wait for a newer heartbeat. */
  readonly leaving: number;
  readonly queued: number;
  readonly isSlotAwaited: boolean;
  readonly usualMs: DurationMs;
}

// Lists cost at most about this many requests for each end.
const pagesPerEndMax = 4 / 3;
const meanPerMedian = usualSpread(1).meanMs;

// A slot idles half of this on average. While none is awaited, an end is known early enough with twice as much.
const awaitedShareMax = 1 / 4;
const restingShareMax = 1 / 2;

// One list shows nearly all that changes. The other one is read so much more rarely.
const otherListStretch = 4;

/**
 * Reads lists more rarely where the service uses smaller pages than requested: a list that costs ten requests is read less
 * often than one that costs one. But where as many creates need a row as the list has pages, it replaces their polls.
 */
export function stretchForSmallPages<Reading extends { readonly of: string; readonly periodMs: DurationMs }>(
  readings: readonly Reading[],
  load: SmallPagesLoad,
): readonly Reading[] {
  const { pages, running, leaving, queued, isSlotAwaited, usualMs } = load;
  const share = (pages * meanPerMedian) / (pagesPerEndMax * Math.max(1, running));
  const endsMs = usualMs * Math.min(share, isSlotAwaited ? awaitedShareMax : restingShareMax);
  // A row serves a create for a minute. Of a collector that has to send a heartbeat first, an earlier reading shows nothing.
  const rowsMs = queued > 0 ? heartbeatWaitMs(usualMs) : freshForMs / 2;
  const shortestMs = Math.max(queued, leaving) >= pages ? Math.min(rowsMs, endsMs) : endsMs;
  const main = readings.some(({ of: list }) => list === 'control') ? 'control' : 'inventory';
  return readings.map((reading) => {
    const isMain = reading.of === main;
    return {
      ...reading,
      periodMs: Math.max(reading.periodMs, isMain ? shortestMs : endsMs) * (isMain ? 1 : otherListStretch),
    };
  });
}
