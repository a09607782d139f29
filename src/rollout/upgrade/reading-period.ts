import type { DurationMs } from '../../base/time.ts';
import { freshForMs } from './step.ts';

/** Running tasks of one build. */
export interface RunningTasks {
  readonly count: number;
  /** How many of them are expected to end in the next millisecond: by their ages, and by what their strata took so far. */
  readonly endsPerMs: number;
}

/** How much there is to watch in one rollout. */
export interface WatchedRollout {
  /** Upgrades whose task is running, by their build: the upgradable list shows that it is over. */
  readonly running: ReadonlyMap<string, RunningTasks>;
  /** Upgrades whose create waits for a newer heartbeat, which the inventory shows. */
  readonly queued: number;
  /** Upgrades whose create waits for its place in the request rate, those that wait for a heartbeat included. */
  readonly leaving: number;
  /** Upgrades whose collector has still to come back, which the inventory shows. */
  readonly verifying: number;
  /** Whether a collector takes the slot of an upgrade that ends: nothing else is gained by knowing its end early. */
  readonly isSlotAwaited: boolean;
  /** Collectors of the whole fleet, as it was last read. */
  readonly fleetSize: number;
  /** How long an upgrade usually takes: as learned, or as the policy expects. */
  readonly usualMs: DurationMs;
}

/** What is read of the service, and how long after its last reading it is read again. */
export type Reading = {
  readonly periodMs: DurationMs;
} & (
  | { readonly of: 'inventory' }
  /** The collectors that the service would upgrade to this build: an upgrade that is on it again has ended. */
  | { readonly of: 'upgradable'; readonly toBuild: string }
  /** The same for the control build: an upgrade that is not on it goes on. */
  | { readonly of: 'control'; readonly toBuild: string }
  /** Each running task by a poll of its own: fewer upgrades run than a list has pages. */
  | { readonly of: 'tasks' }
);

/** What readings are planned by, beside the rollouts. */
export interface ReadingLimits {
  /** What the access key may send now, over all daemons. */
  readonly requestsPerSecond: number;
  /** How many pages the last reading of the inventory took: a service may give fewer collectors a page than it is asked for. */
  readonly pagesRead?: number;
  /** The build whose upgradable list is known to show every upgrade that is over; undefined: none is known. */
  readonly controlBuild?: string | undefined;
}

/** A page of a list shows this many collectors for one request (collector-api.md §4.1). */
export const collectorsPerPage = 1_000;

// A request is worth a twenty-fifth of an upgrade in one slot: 12 s where it takes 5 minutes. A list is read when the slots
// of ends that it is expected to show have idled for as long: n slots end one upgrade in usual / n, so that a period of
// usual × √(2 / 25 / n) makes pages and idle slots cost the same, which is the least of both together.
const requestPriceShare = 1 / 25;

// More often than this shows no more: the poll that follows and the next create take about as long.
const periodMinShare = 1 / 100;

// Requests cost nothing while few upgrades run, so a slot never idles for longer than this for the sake of one.
const periodMaxShare = 1 / 36;

// While hardly an end is expected, the control list is read more rarely, and so many times at most: these upgrades may be
// faster. It shows an end for as long as it takes; the list of the target only while the collector restarts.
const stretchMax = 3;

// Where no collector waits for a slot, an end counts for the failure limit alone, and the last ones end the wave: the
// requests are idle then. A collector that returns is polled 50 s after its task where no row shows it before.
const restingPeriodShare = 1 / 10;
const lastUpgrades = 3;

// The upgradable list shows an end while the collector restarts, and every failure. The inventory shows the ends whose
// restart was too short for that, and the collectors that are back.
const inventoryStretch = 2;

// Where the control list is read, nothing waits for the inventory: it shows which collectors are gone.
const inventoryBesideControlShare = 1;

// The same poll of a collector that returns.
const inventoryMaxShare = 1 / 10;

// About a restart's silence: what remains is to see collectors return.
const verifyPeriodShare = 1 / 15;

// A create that waits for its place needs no poll of its own while rows of the last minute show its collector.
const rowFreshMs = freshForMs / 2;

// Three quarters of the requests are for creates and polls, however large the fleet is.
const pageShareMax = 1 / 4;

// So many creates keep the request rate busy for a while.
export const leavingMany = 10;
const hintShareMax = 1 / 40;

// Of a rollback, with its many builds, only lists that show several upgrades are worth a page.
const runningPerPage = 4;

/**
 * What is read, and how often: lists, or single tasks while these cost less. All rollouts share the readings: the one with
 * the shortest upgrades sets the pace.
 */
export function planReadings(
  rollouts: readonly WatchedRollout[],
  { requestsPerSecond, pagesRead = 0, controlBuild }: ReadingLimits,
): readonly Reading[] {
  const busy = rollouts.filter((rollout) => watchedOf(rollout) > 0);
  const pagesWanted = Math.ceil(Math.max(1, ...busy.map(({ fleetSize }) => fleetSize)) / collectorsPerPage);
  // One more shows that a page shorter than asked for was the last; pages of two halves overlap.
  const pages = pagesRead > 2 * pagesWanted + 1 ? pagesRead : pagesWanted;
  const watched = sum(busy.map(watchedOf));
  if (pagesWanted > watched) return slowDown(taskReadings(busy), runningOf(busy).count, requestsPerSecond);
  if (pages > watched) return [];
  const isControlRead = controlBuild !== undefined && !runningByBuild(busy).has(controlBuild);
  const readings = isControlRead ? controlReadings(busy, pages, controlBuild) : listReadings(busy, pages);
  return slowDown(readings, pages, requestsPerSecond);
}

/** @param requests of one reading */
function slowDown(
  readings: readonly Reading[],
  requests: number,
  requestsPerSecond: number,
): readonly Reading[] {
  const perMs = sum(readings.map(({ periodMs }) => requests / periodMs));
  const slower = Math.max(1, perMs / ((requestsPerSecond * pageShareMax) / 1_000));
  // Polls are put off by it, and instants are whole milliseconds, in records and in JSON.
  return readings.map((reading) => ({ ...reading, periodMs: Math.ceil(reading.periodMs * slower) }));
}

/** A poll of each running task costs a request, as a page of a list does. */
function taskReadings(busy: readonly WatchedRollout[]): readonly Reading[] {
  const running = runningOf(busy);
  if (running.count === 0) return [];
  return [{ of: 'tasks', periodMs: endsPeriodMs(busy, running.count, running) }];
}

/** One list shows all ends, all returns, and all collectors that may start. The inventory shows who is gone. */
function controlReadings(
  busy: readonly WatchedRollout[],
  pages: number,
  toBuild: string,
): readonly Reading[] {
  const usualMs = usualOf(busy);
  const periodMs = Math.min(endsPeriodMs(busy, pages, runningOf(busy)), awaitedRowsMs(busy, usualMs));
  return [
    { of: 'control', toBuild, periodMs },
    { of: 'inventory', periodMs: usualMs * inventoryBesideControlShare },
  ];
}

/** How often to read what shows an end for as long as it lasts. @param requests of one reading */
function endsPeriodMs(busy: readonly WatchedRollout[], requests: number, running: RunningTasks): DurationMs {
  const usualMs = usualOf(busy);
  // Where nobody waits for a slot, it is read rarely as it is.
  const isStretched = isSlotAwaited(busy) || running.count <= lastUpgrades;
  const stretch = isStretched && running.count > 0 ? stretchOf(running, usualMs) : 1;
  return usualMs * Math.max(listShare(busy, requests, running) * stretch, periodMinShare);
}

/** The upgradable list of each target shows an end while the collector restarts, and the inventory shows those that are back. */
function listReadings(busy: readonly WatchedRollout[], pages: number): readonly Reading[] {
  const usualMs = usualOf(busy);
  const readings: Reading[] = [];
  const runningTo = runningByBuild(busy);
  for (const [toBuild, running] of runningTo) {
    if (running.count < runningPerPage * pages && runningTo.size > 1) continue;
    readings.push({ of: 'upgradable', toBuild, periodMs: usualMs * listShare(busy, pages, running) });
  }
  const shortest = Math.min(...readings.map(({ periodMs }) => periodMs));
  const betweenMs = runningTo.size > 0 ? inventoryStretch * shortest : usualMs * verifyPeriodShare;
  const inventoryMs = Math.min(betweenMs, usualMs * inventoryMaxShare, awaitedRowsMs(busy, usualMs));
  readings.push({
    of: 'inventory',
    periodMs: Number.isFinite(inventoryMs) ? inventoryMs : usualMs * verifyPeriodShare,
  });
  return readings;
}

/** How often creates need rows: those that wait for a newer heartbeat, and those that wait for their place. */
function awaitedRowsMs(busy: readonly WatchedRollout[], usualMs: DurationMs): DurationMs {
  if (busy.some(({ queued }) => queued > 0)) return Math.min(usualMs * periodMinShare, rowFreshMs);
  return busy.some(({ leaving }) => leaving > 0) ? rowFreshMs : Number.POSITIVE_INFINITY;
}

/**
 * How many polls the rows of one reading may ask for. While many creates wait for their place in the request rate, an end
 * gives its slot to none of them sooner: a twentieth of the requests, half of it for each list, is enough to see failures.
 */
export function hintsMax(
  rollouts: readonly WatchedRollout[],
  requestsPerSecond: number,
  periodMs: DurationMs,
): number {
  const leaving = sum(rollouts.map((rollout) => rollout.leaving));
  if (leaving < leavingMany) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.floor(requestsPerSecond * hintShareMax * (periodMs / 1_000)));
}

function listShare(busy: readonly WatchedRollout[], pages: number, running: RunningTasks): number {
  if (running.count === 0) return verifyPeriodShare;
  if (runningOf(busy).count <= lastUpgrades) return periodMinShare;
  if (!isSlotAwaited(busy)) return restingPeriodShare;
  const share = Math.sqrt((2 * requestPriceShare * pages) / running.count);
  return Math.max(Math.min(share, periodMaxShare), periodMinShare);
}

/** The least of pages and idle slots together is at the root of how many times fewer ends than usual are expected. */
function stretchOf({ count, endsPerMs }: RunningTasks, usualMs: DurationMs): number {
  return Math.min(Math.sqrt(count / (endsPerMs * usualMs)), stretchMax);
}

function isSlotAwaited(busy: readonly WatchedRollout[]): boolean {
  return busy.some((rollout) => rollout.isSlotAwaited);
}

function usualOf(busy: readonly WatchedRollout[]): DurationMs {
  return Math.min(...busy.map(({ usualMs }) => usualMs));
}

function runningByBuild(rollouts: readonly WatchedRollout[]): ReadonlyMap<string, RunningTasks> {
  const tasks = new Map<string, RunningTasks>();
  for (const { running } of rollouts)
    for (const [toBuild, more] of running)
      tasks.set(toBuild, totalOf([more, tasks.get(toBuild) ?? totalOf([])]));
  return tasks;
}

function runningOf(rollouts: readonly WatchedRollout[]): RunningTasks {
  return totalOf([...runningByBuild(rollouts).values()]);
}

function totalOf(tasks: readonly RunningTasks[]): RunningTasks {
  return { count: sum(tasks.map(({ count }) => count)), endsPerMs: sum(tasks.map((each) => each.endsPerMs)) };
}

function watchedOf({ running, queued, verifying }: WatchedRollout): number {
  return totalOf([...running.values()]).count + queued + verifying;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
