import { mostFrequent, sumOf } from '../../base/grouping.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RolloutCourse } from '../../contract/admin/course.ts';
import type { AuditEntry } from '../../contract/admin/holds.ts';
import { countUpgradesIn, heldStrataOf } from '../decision/assess.ts';
import type { RolloutEvent } from '../model/events.ts';
import type { RolloutView } from '../model/rollout.ts';
import { isFailed, isUnderWay, type UpgradeState, upgradeStates } from '../model/upgrade.ts';
import { describeGates } from './describe-gates.ts';
import { describeNight } from './describe-night.ts';

type BurnUp = RolloutCourse['burnUp'];
type BurnUpPoint = BurnUp['points'][number];
type BuildCourse = NonNullable<RolloutCourse['builds']>;
type StratumCourse = RolloutCourse['strata'][number];

const pointsMax = 120;
const strataShownMax = 200;

/**
 * @param read the events and the audit, newest first; `isWhole` if these are all events of the rollout; `ofRollback`: the
 *   events of the rollback that undoes it
 */
export function describeCourse(
  view: RolloutView,
  read: {
    readonly events: readonly RolloutEvent[];
    readonly isWhole: boolean;
    readonly ofRollback?: readonly RolloutEvent[];
    readonly audit?: readonly AuditEntry[];
  },
  now: EpochMs,
): RolloutCourse {
  const { endedAt } = view.rollout;
  const strata = describeStrata(view);
  return {
    burnUp: burnUpOf(view, read, endedAt ?? now),
    builds: buildsOf(view, read, endedAt ?? now),
    eventCounts: countEvents(read.events),
    strata: strata.slice(0, strataShownMax),
    strataTotal: strata.length,
    night: describeNight(view.rollout, read.events, now, read.audit),
    gates: describeGates(view.rollout),
  };
}

type Level = 'succeeded' | 'failed' | 'inFlight';

function levelOf(state: UpgradeState): Level | undefined {
  if (state === 'succeeded') return 'succeeded';
  if (isFailed(state)) return 'failed';
  return isUnderWay(state) || state === 'queued' ? 'inFlight' : undefined;
}

/**
 * Computes the points backwards: from today's levels, undoing the changes that the events show. An upgrade whose earlier
 * events are lost counts as in flight before its end.
 */
function burnUpOf(
  view: RolloutView,
  { events, isWhole }: { readonly events: readonly RolloutEvent[]; readonly isWhole: boolean },
  until: EpochMs,
): BurnUp {
  const countAt = (level: Level) => countUpgradesIn(view, (state) => levelOf(state) === level);
  const levels = {
    succeeded: countAt('succeeded'),
    failed: countAt('failed'),
    inFlight: countAt('inFlight'),
  };
  const changes = changesOf(events, isWhole);
  // The rollout's own events are kept for longer than those of its upgrades.
  const oldest = events.findLast(({ event }) => event.startsWith('upgrade.'));
  const since = isWhole ? view.rollout.createdAt : (oldest?.at ?? until);
  if (until <= since) return { points: [{ at: until, ...levels }], isWhole };
  const points: BurnUpPoint[] = [];
  let next = changes.length - 1;
  for (let step = pointsMax - 1; step >= 0; step -= 1) {
    const at = Math.round(since + ((until - since) * step) / (pointsMax - 1));
    for (let change = changes[next]; change !== undefined && change.at > at; change = changes[next]) {
      if (change.to !== undefined) levels[change.to] -= 1;
      if (change.from !== undefined) levels[change.from] += 1;
      next -= 1;
    }
    // Counters and events are not read atomically, so a level may fall below zero.
    points.push({
      at,
      succeeded: Math.max(0, levels.succeeded),
      failed: Math.max(0, levels.failed),
      inFlight: Math.max(0, levels.inFlight),
    });
  }
  return { points: points.reverse(), isWhole };
}

interface LevelChange {
  readonly at: EpochMs;
  readonly from: Level | undefined;
  readonly to: Level | undefined;
}

/** Oldest first. */
function changesOf(events: readonly RolloutEvent[], isWhole: boolean): readonly LevelChange[] {
  const before = new Map<number, Level | undefined>();
  const changes: LevelChange[] = [];
  for (const { event, collectorId, at } of events.toReversed()) {
    const state = upgradeStates.find((each) => event === `upgrade.${each}`);
    if (state === undefined || collectorId === undefined) continue;
    const to = levelOf(state);
    const unknown = isWhole || to === undefined || to === 'inFlight' ? undefined : 'inFlight';
    const from = before.has(collectorId) ? before.get(collectorId) : unknown;
    before.set(collectorId, to);
    if (from !== to) changes.push({ at, from, to });
  }
  return changes;
}

/** A success moves a collector from its build to the target, and a rollback moves it back. Null if events are missing. */
function buildsOf(
  { rollout, waves }: RolloutView,
  {
    events,
    ofRollback = [],
    isWhole,
  }: {
    readonly events: readonly RolloutEvent[];
    readonly ofRollback?: readonly RolloutEvent[];
    readonly isWhole: boolean;
  },
  until: EpochMs,
): BuildCourse | null {
  const { plan, createdAt } = rollout;
  const { targetBuild, fromBuilds, fromCounts } = plan;
  if (fromCounts.length === 0 || !isWhole || until <= createdAt) return null;
  const planned = countUpgradesIn({ waves }, () => true);
  const others = Math.max(0, planned - sumOf(fromCounts, (count) => count));
  const builds = [targetBuild, ...fromBuilds, ...(others > 0 ? ['other builds'] : [])];
  const counts = [0, ...fromCounts, ...(others > 0 ? [others] : [])];
  const isSuccess = ({ event }: RolloutEvent) => event === 'upgrade.succeeded';
  const changes = [
    ...events
      .toReversed()
      .filter((each) => isSuccess(each) || each.event === 'upgrade.rolledBack')
      .map((each) => ({ ...each, isBack: !isSuccess(each) })),
    // The rollout notes all of them when its rollback ends.
    ...ofRollback.filter(isSuccess).map((each) => ({ ...each, isBack: true })),
  ].sort((one, other) => one.at - other.at);
  const move = (from: number, to: number) => {
    // The plan did not count the builds of late joiners.
    counts[from] = Math.max(0, (counts[from] ?? 0) - 1);
    counts[to] = (counts[to] ?? 0) + 1;
  };
  /** The former build of each collector that runs the target. */
  const upgradedFrom = new Map<number | undefined, number>();
  const points: Array<BuildCourse['points'][number]> = [];
  let next = 0;
  for (let step = 0; step < pointsMax; step += 1) {
    const at = Math.round(createdAt + ((until - createdAt) * step) / (pointsMax - 1));
    for (let one = changes[next]; one !== undefined && one.at <= at; one = changes[next]) {
      next += 1;
      const former = upgradedFrom.get(one.collectorId);
      if (one.isBack) {
        if (former !== undefined) move(0, former);
        upgradedFrom.delete(one.collectorId);
      } else if (former === undefined) {
        const known = fromBuilds.indexOf(one.fromBuild ?? '') + 1;
        const from = known > 0 ? known : builds.length - 1;
        move(from, 0);
        upgradedFrom.set(one.collectorId, from);
      }
    }
    points.push({ at, counts: [...counts] });
  }
  return { builds, points };
}

function countEvents(events: readonly RolloutEvent[]): RolloutCourse['eventCounts'] {
  return mostFrequent(events.map(({ event }) => event)).map(([event, count]) => ({ event, count }));
}

function describeStrata(view: RolloutView): readonly StratumCourse[] {
  const { groups, strata } = view;
  const held = heldStrataOf(view);
  const described = groups.strata.map(({ label, sizes }, index) => ({
    ...{ label, succeeded: 0, failed: 0, active: 0, waiting: 0 },
    size: sumOf(sizes, (size) => size),
    isHeld: held.has(index),
  }));
  for (const { stratum, succeeded, failed, active, waiting } of strata) {
    const row = described[stratum];
    if (row === undefined) continue;
    row.succeeded += succeeded;
    row.failed += failed;
    row.active += active;
    row.waiting += waiting;
  }
  // All members of a stratum may have been moved to a held group.
  const filled = described.filter(({ size, isHeld }) => size > 0 || isHeld);
  return filled.sort((a, b) => b.failed - a.failed || b.size - a.size || (a.label < b.label ? -1 : 1));
}
