import { isSameBuild } from '../../base/build-version.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { assessHeartbeat } from '../model/collector.ts';
import type { Policy } from '../model/policy.ts';
import { dueAtOf, isIn, type Upgrade, type UpgradeIn } from '../model/upgrade.ts';
import { isHeardAgain, isReturned, showsEligible } from './collector-observations.ts';
import type { CollectorObservation } from './facts.ts';
import { nextRareTaskPollAt } from './poll-schedule.ts';
import { to } from './upgrade-changes.ts';

/** How much there is to watch in one rollout. */
export interface WatchedRollout {
  /** Upgrades for which a page can take the place of a look. */
  readonly watched: number;
  /** Collectors of the whole fleet, as it was last read. */
  readonly fleetSize: number;
  readonly expectMs: DurationMs;
}

/**
 * What a row of the inventory tells of an upgrade: `news` is as good as a look at the collector, `changeHinted` asks for a
 * look at the task, `quiet` lets the next look wait, `nothing` changes nothing.
 */
export type RowVerdict = 'news' | 'changeHinted' | 'quiet' | 'nothing';

/** A page of the inventory shows this many collectors for one request (collector-api.md §4.1). */
export const collectorsPerPage = 1_000;

// 20 s where an upgrade takes 5 minutes: about a restart's silence, so that few of them are over before they are seen.
const periodShare = 1 / 15;

// A single look is needed every 40 s or so where no page is read, so four collectors pay for a page with a margin.
const watchedPerPage = 4;
const stretchMax = 3;

// The other three quarters of the requests are for creates and looks, however large the fleet is.
const pageShareMax = 1 / 4;

// A look comes with almost every page while a restart lasts (a minute at most), then less and less often.
const pollShareOfPeriod = 0.9;
const pollShareOfSilence = 0.3;
const silenceExpectMs: DurationMs = 5 * 60_000;

// The build is there, so the end is near: three times as often as looks are without a page.
const pollShareOfAge = 0.05;

// A service that refuses a collector as not alive, and shows it alive, is not asked again with every page.
const deferredShare = 1 / 5;

/**
 * How long one reading of the inventory is after the other; null while single looks cost less. All rollouts share a
 * reading: the most hurried one sets the pace.
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
  return Math.max(periodMs, (pages / (requestsPerSecond * pageShareMax)) * 1_000);
}

/** True for an upgrade whose looks a page can take over, so that it counts for how often pages are read. */
export function isWatched(upgrade: Upgrade): boolean {
  if (upgrade.progress.state === 'verifying') return true;
  if (upgrade.progress.state === 'queued') return upgrade.progress.heartbeatAfter !== undefined;
  return (
    upgrade.progress.state === 'upgrading' &&
    upgrade.progress.taskId !== null &&
    upgrade.progress.ending === null
  );
}

export interface RowContext {
  readonly at: EpochMs;
  /** How long one page is after the other. */
  readonly periodMs: DurationMs;
  readonly policy: Policy;
  /** Records from before may be undone ones. */
  readonly trustedSince?: EpochMs | undefined;
}

/**
 * Reads one row.
 * @param row as the page showed it, with the service's clock at that very page
 */
export function judgeRow(
  upgrade: Upgrade,
  row: Omit<CollectorObservation, 'upgradable'>,
  { at, periodMs, policy, trustedSince = 0 }: RowContext,
): RowVerdict {
  // Its look is on the way, or is repeated soon after one that failed: a write now would only make that one stale.
  if ((dueAtOf(upgrade) ?? at) <= at || upgrade.tally.failedPolls > 0) return 'nothing';
  const seen = { ...row, upgradable: null };
  const atTarget = isSameBuild(row.build, upgrade.identity.toBuild);
  if (isIn(upgrade, 'verifying')) {
    if (isReturned(upgrade, seen)) return 'news';
    // Without the service's clock, a first look has yet to tell which heartbeat is new.
    const { endedServiceAt, baselineHeartbeatAt } = upgrade.progress;
    return endedServiceAt === null && baselineHeartbeatAt === null ? 'nothing' : 'quiet';
  }
  if (isIn(upgrade, 'upgrading')) {
    if (upgrade.progress.ending !== null) return 'nothing';
    if (upgrade.progress.taskId === null) return atTarget ? 'news' : 'nothing';
    return judgeTaskRow(upgrade, row, { at, periodMs, expectMs: policy.upgrade.expectMs });
  }
  if (isIn(upgrade, 'queued')) {
    const { heartbeatAfter, freshAt } = upgrade.progress;
    // One whose record may be of before a lost create is looked for on the list, which a row does not tell (P1).
    if (heartbeatAfter === undefined || freshAt < trustedSince) return 'nothing';
    if (atTarget || showsEligible(upgrade, row, heartbeatAfter)) return 'news';
    // With its next heartbeat the next page shows it fit; one that falls silent is looked at.
    return assessHeartbeat(row.lastSeenAlive, row.serviceAt) === 'heard' ? 'quiet' : 'nothing';
  }
  if (!isIn(upgrade, 'deferred') || upgrade.progress.condition !== 'notAlive') return 'nothing';
  const isOldEnough = at - upgrade.progress.since >= policy.upgrade.expectMs * deferredShare;
  return isOldEnough && isHeardAgain(row) ? 'news' : 'nothing';
}

/** A restart, or the build itself, shows that the task is near its end; an intermediate build shows nothing (collector-api.md §9). */
function judgeTaskRow(
  upgrade: UpgradeIn<'upgrading'>,
  row: Omit<CollectorObservation, 'upgradable'>,
  { at, periodMs, expectMs }: { at: EpochMs; periodMs: DurationMs; expectMs: DurationMs },
): RowVerdict {
  const isAtTarget = isSameBuild(row.build, upgrade.identity.toBuild);
  const heartbeat = assessHeartbeat(row.lastSeenAlive, row.serviceAt);
  const isSilent = !row.alive || heartbeat === 'late' || heartbeat === 'silent';
  if (!isAtTarget && !isSilent) return 'quiet';
  const spacingMs = isAtTarget
    ? (upgrade.progress.polledAt - upgrade.progress.startedAt) * pollShareOfAge
    : silenceMs(row, at - upgrade.progress.startedAt) * pollShareOfSilence * (expectMs / silenceExpectMs);
  return at - upgrade.progress.polledAt >= Math.max(periodMs * pollShareOfPeriod, spacingMs)
    ? 'changeHinted'
    : 'quiet';
}

/** By the service's clock; where that is not told, it may have been silent since the task began. */
function silenceMs(
  { lastSeenAlive, serviceAt }: Omit<CollectorObservation, 'upgradable'>,
  ageMs: DurationMs,
): DurationMs {
  return lastSeenAlive === null || serviceAt === null ? ageMs : serviceAt - lastSeenAlive;
}

/** A row of the inventory hints that the task may be over: its look is due now. Nothing else changes (P10). */
export function afterChangeHinted(upgrade: Upgrade, at: EpochMs): Upgrade {
  const { progress } = upgrade;
  if (progress.state !== 'upgrading' || progress.ending !== null || progress.dueAt <= at) return upgrade;
  return to(upgrade, { ...progress, dueAt: at });
}

/**
 * A row of the inventory shows nothing new: a look due before `until` waits, since the next page comes earlier than that.
 * One that is due already goes ahead, and none waits longer than its rare look, its deadline or the end of its proof: so
 * looks come back by themselves when pages do not.
 */
export function afterQuiet(
  upgrade: Upgrade,
  { at, until }: { readonly at: EpochMs; readonly until: EpochMs },
  policy: Policy,
): Upgrade {
  const { progress } = upgrade;
  switch (progress.state) {
    case 'upgrading': {
      if (progress.ending !== null || progress.taskId === null) return upgrade;
      const dueAt = putOff(progress.dueAt, at, Math.min(until, nextRareTaskPollAt(progress, policy)));
      return dueAt === progress.dueAt ? upgrade : to(upgrade, { ...progress, dueAt, quietAt: at });
    }
    case 'verifying': {
      const dueAt = putOff(progress.dueAt, at, Math.min(until, progress.verifyBy));
      return dueAt === progress.dueAt ? upgrade : to(upgrade, { ...progress, dueAt });
    }
    case 'queued': {
      const dueAt = putOff(progress.dueAt, at, until);
      const { state, freshAt, heartbeatAfter, startBy } = progress;
      if (dueAt === progress.dueAt || heartbeatAfter === undefined) return upgrade;
      return to(upgrade, { state, dueAt, freshAt, heartbeatAfter, startBy });
    }
    default:
      return upgrade;
  }
}

function putOff(dueAt: EpochMs, at: EpochMs, until: EpochMs): EpochMs {
  return dueAt <= at ? dueAt : Math.max(dueAt, until);
}
