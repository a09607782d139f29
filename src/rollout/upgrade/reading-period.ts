import type { DurationMs } from '../../base/time.ts';

/** How much there is to watch in one rollout. */
export interface WatchedRollout {
  /** Upgrades for which a page can take the place of a poll. */
  readonly watched: number;
  /** Collectors of the whole fleet, as it was last read. */
  readonly fleetSize: number;
  readonly expectMs: DurationMs;
}

/** A page of the inventory shows this many collectors for one request (collector-api.md §4.1). */
export const collectorsPerPage = 1_000;

// 20 s where an upgrade takes 5 minutes: about a restart's silence, so that few of them are over before they are seen.
const periodShare = 1 / 15;

// A single poll is needed every 40 s or so where no page is read, so four collectors pay for a page with a margin.
const watchedPerPage = 4;
const stretchMax = 3;

// The other three quarters of the requests are for creates and polls, however large the fleet is.
const pageShareMax = 1 / 4;

/**
 * How long one reading of the inventory is after the other; null while single polls cost less. All rollouts share a
 * reading: the one with the shortest upgrades sets the pace.
 * @param requestsPerSecond what the access key may send, over all daemons
 * @param pagesRead how many pages the last reading took: a service may give fewer collectors a page than it is asked for
 */
export function readingPeriod(
  rollouts: readonly WatchedRollout[],
  requestsPerSecond: number,
  pagesRead = 0,
): DurationMs | null {
  const busy = rollouts.filter(({ watched }) => watched > 0);
  const watched = busy.reduce((sum, rollout) => sum + rollout.watched, 0);
  const pagesWanted = Math.ceil(Math.max(1, ...busy.map(({ fleetSize }) => fleetSize)) / collectorsPerPage);
  // One more shows that a page shorter than asked for was the last; pages of two halves overlap.
  const pages = pagesRead > 2 * pagesWanted + 1 ? pagesRead : pagesWanted;
  const stretch = Math.max(1, (watchedPerPage * pages) / watched);
  if (!(stretch <= stretchMax)) return null;
  const periodMs = Math.min(...busy.map(({ expectMs }) => expectMs)) * periodShare * stretch;
  // Polls are put off by it, and instants are whole milliseconds, in records and in JSON.
  return Math.ceil(Math.max(periodMs, (pages / (requestsPerSecond * pageShareMax)) * 1_000));
}
