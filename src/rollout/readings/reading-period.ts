import type { DurationMs } from '../../base/time.ts';
import { freshForMs } from '../upgrade/step.ts';
import { stretchForSmallPages } from './small-pages.ts';

/** Running tasks of one build. */
export interface RunningTasks {
  readonly count: number;
  /** How many are expected to end per millisecond now, by their ages and by the durations of their strata. */
  readonly endsPerMs: number;
}

/** The upgrades of one rollout that readings can watch. */
export interface WatchedRollout {
  /** Upgrades whose task is running, by target build. The upgradable list shows their end. */
  readonly running: ReadonlyMap<string, RunningTasks>;
  /** Number of upgrades whose create waits for a newer heartbeat, which the inventory shows. */
  readonly queued: number;
  /** Number of upgrades whose create waits for the request rate or for a heartbeat. */
  readonly leaving: number;
  /** Number of upgrades whose collector has to return, which the inventory shows. */
  readonly verifying: number;
  /** Whether another collector waits for a slot. Otherwise there is little use in knowing an end early. */
  readonly isSlotAwaited: boolean;
  /** Whether an upgrade of it has failed, for good or not. */
  readonly hasFailures?: boolean;
  /** Number of collectors in the fleet at the last reading. */
  readonly fleetSize: number;
  /** How long an upgrade usually takes: learned, or as the policy expects. */
  readonly usualMs: DurationMs;
}

/** What is read from the service, and how often. */
export type Reading = {
  readonly periodMs: DurationMs;
} & (
  | { readonly of: 'inventory' }
  /** The collectors that the service would upgrade to this build. An upgrade on this list has ended. */
  | { readonly of: 'upgradable'; readonly toBuild: string }
  /** The same for the control build. An upgrade that is not on this list is running. */
  | { readonly of: 'control'; readonly toBuild: string }
  /** One poll for each running task, because fewer upgrades are running than a list has pages. */
  | { readonly of: 'tasks' }
);

/** Limits of the account within which readings are planned. */
export interface ReadingLimits {
  /** The current request rate of the access key, over all daemons. */
  readonly requestsPerSecond: number;
  /** How many pages the last reading of the inventory took. Services may use smaller pages than requested. */
  readonly pagesRead?: number;
  /** The build whose upgradable list shows every upgrade that has ended; undefined if none is known. */
  readonly controlBuild?: string | undefined;
  /** Whether another list is read in turn with that of the control build. Then each of them shows some ends alone. */
  readonly isReadInTurn?: boolean;
}

/** A page of a list shows this many collectors for one request (collector-api.md §4.1). */
export const collectorsPerPage = 1_000;

// A request is worth 1/27 of an upgrade in one slot: 11 s of five minutes. With n slots, one upgrade ends in
// usual / n. A period of usual × √(2 / 27 / n) makes the cost of pages and of idle slots equal, which minimizes the sum.
const requestPriceShare = 1 / 27;

// Shorter periods gain nothing: the poll that follows and the next create take about as long.
const periodMinShare = 1 / 100;

// With few upgrades running, requests are plentiful, and a slot does not idle longer than this to save one.
const periodMaxShare = 1 / 38;

// While few ends are expected, the control list is read up to this many times more rarely; not more, because upgrades may
// be faster than expected. The target's list must not be read more rarely, because it shows an end only during the restart.
const stretchMax = 3;

// If no collector waits for a slot, an end matters only for the failure limit, or as the last one of the wave. A collector
// that returns is polled 50 s after the end of its task if no row shows it before.
const restingPeriodShare = 1 / 12;

// Where upgrades fail, more failures are likely. Each is known within a tenth, also while the usual duration is overestimated.
const failingPeriodShare = 1 / 18;
const lastUpgrades = 3;

// The last ends of a wave leave all of its slots idle, but a shorter period than 12 s of five minutes makes a canary of five cost
// as many lists as a third of two hundred upgrades.
const lastPeriodShare = 1 / 25;

// The upgradable list shows failures, and ends while the collector restarts. The inventory shows ends with a shorter
// restart, and the collectors that have returned.
const inventoryStretch = 2;

// Beside the control list, the inventory is needed only to find collectors that have left the fleet.
const inventoryBesideControlShare = 1;

// Of two lists that are read in turn, one alone shows some failures. Each is read within a tenth.
const inTurnMaxShare = 1 / 30;

// At the latest when a collector that returns would be polled.
const inventoryMaxShare = 1 / 10;

// About the silence during a restart, for collectors that have to return.
const verifyPeriodShare = 1 / 15;

// A create that waits for the request rate needs no poll while a row of the last minute shows its collector.
const rowFreshMs = freshForMs / 2;

// Leaves three quarters of the requests for creates and polls, even in a large fleet.
const pageShareMax = 1 / 4;

// This many waiting creates keep the request rate busy for a while.
export const leavingMany = 10;
const hintShareMax = 1 / 40;

// A rollback has many target builds. Only lists that show several upgrades are worth a page.
const runningPerPage = 4;

/**
 * Plans what is read and how often: lists, or single tasks if these need fewer requests. All rollouts share the readings,
 * and the rollout with the shortest upgrades determines the period.
 */
export function planReadings(
  rollouts: readonly WatchedRollout[],
  { requestsPerSecond, pagesRead = 0, controlBuild, isReadInTurn = false }: ReadingLimits,
): readonly Reading[] {
  const busy = rollouts.filter((rollout) => watchedOf(rollout) > 0);
  const pagesWanted = Math.ceil(Math.max(1, ...busy.map(({ fleetSize }) => fleetSize)) / collectorsPerPage);
  // More pages than this show that the service uses smaller pages: one may be needed to find the end, and halves overlap.
  const pages = pagesRead > 2 * pagesWanted + 1 ? pagesRead : pagesWanted;
  const watched = sum(busy.map(watchedOf));
  if (pagesWanted > watched) return slowDown(taskReadings(busy), runningOf(busy).count, requestsPerSecond);
  if (pages > watched) return [];
  const isControlRead = controlBuild !== undefined && !runningByBuild(busy).has(controlBuild);
  const readings = isControlRead
    ? controlReadings(busy, pages, { toBuild: controlBuild, isReadInTurn })
    : listReadings(busy, pages);
  if (pages === pagesWanted) return slowDown(readings, pages, requestsPerSecond);
  const load = {
    ...{ pages, running: runningOf(busy).count, isSlotAwaited: isSlotAwaited(busy), usualMs: usualOf(busy) },
    ...{ leaving: sum(busy.map(({ leaving }) => leaving)), queued: sum(busy.map(({ queued }) => queued)) },
  };
  return slowDown(stretchForSmallPages(readings, load), pages, requestsPerSecond);
}

/** Lengthens all periods so that readings stay within their share of requests. @param requests number for one reading */
function slowDown(
  readings: readonly Reading[],
  requests: number,
  requestsPerSecond: number,
): readonly Reading[] {
  const perMs = sum(readings.map(({ periodMs }) => requests / periodMs));
  const slower = Math.max(1, perMs / ((requestsPerSecond * pageShareMax) / 1_000));
  // Periods postpone polls, and instants are whole milliseconds in records and JSON.
  return readings.map((reading) => ({ ...reading, periodMs: Math.ceil(reading.periodMs * slower) }));
}

/** Polls each running task. A poll costs one request, as a page of a list does. */
function taskReadings(busy: readonly WatchedRollout[]): readonly Reading[] {
  const running = runningOf(busy);
  if (running.count === 0) return [];
  return [{ of: 'tasks', periodMs: endsPeriodMs(busy, running.count, running) }];
}

/** The control list shows ends, returns and eligible collectors. The inventory shows which collectors left the fleet. */
function controlReadings(
  busy: readonly WatchedRollout[],
  pages: number,
  { toBuild, isReadInTurn }: { readonly toBuild: string; readonly isReadInTurn: boolean },
): readonly Reading[] {
  const usualMs = usualOf(busy);
  const maxMs = isReadInTurn ? usualMs * inTurnMaxShare : Number.POSITIVE_INFINITY;
  const endsMs = endsPeriodMs(busy, pages, runningOf(busy));
  const periodMs = Math.min(endsMs, awaitedRowsMs(busy, usualMs), maxMs);
  return [
    { of: 'control', toBuild, periodMs },
    { of: 'inventory', periodMs: usualMs * inventoryBesideControlShare },
  ];
}

/** Period of a reading that shows an end until it is handled. @param requests number for one reading */
function endsPeriodMs(busy: readonly WatchedRollout[], requests: number, running: RunningTasks): DurationMs {
  const usualMs = usualOf(busy);
  // If no collector waits for a slot, the period is long already.
  const isStretched = isSlotAwaited(busy) || running.count <= lastUpgrades;
  const stretch = isStretched && running.count > 0 ? stretchOf(running, usualMs) : 1;
  return usualMs * Math.max(listShare(busy, requests, running) * stretch, periodMinShare);
}

/** The upgradable lists of the targets show ends while collectors restart. The inventory shows collectors that returned. */
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

/** How often creates need rows, because they wait for a newer heartbeat or for the request rate. */
function awaitedRowsMs(busy: readonly WatchedRollout[], usualMs: DurationMs): DurationMs {
  if (busy.some(({ queued }) => queued > 0)) return Math.min(usualMs * periodMinShare, rowFreshMs);
  return busy.some(({ leaving }) => leaving > 0) ? rowFreshMs : Number.POSITIVE_INFINITY;
}

/**
 * How many task polls the rows of one reading may trigger. While many creates wait for the request rate, knowing an end
 * early frees no create. A twentieth of the requests, half of it for each list, is enough to notice failures.
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
  const { count } = runningOf(busy);
  if (count <= lastUpgrades) return lastPeriodShare;
  // The fewer run, the more likely they all end before the next reading.
  if (!isSlotAwaited(busy)) {
    const isFailing = busy.some(({ hasFailures }) => hasFailures);
    return Math.min(isFailing ? failingPeriodShare : restingPeriodShare, count / 100);
  }
  const share = Math.sqrt((2 * requestPriceShare * pages) / running.count);
  return Math.max(Math.min(share, periodMaxShare), periodMinShare);
}

/** By the same optimization, the period grows with the square root of how many fewer ends are expected than usual. */
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

function watchedOf({ running, queued, leaving, verifying }: WatchedRollout): number {
  return totalOf([...running.values()]).count + Math.max(queued, leaving) + verifying;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
