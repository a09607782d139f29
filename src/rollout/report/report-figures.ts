import type { DurationMs, EpochMs } from '../../base/time.ts';
import { upgradeText } from '../messages/upgrade-reasons.ts';
import type { DurationSummary } from '../model/rollout.ts';
import { type EndState, endStates, isEnd, type Upgrade } from '../model/upgrade.ts';
import { endedAtOf } from '../model/upgrade-figures.ts';
import { type EndOnBuild, endOnBuild } from './end-on-build.ts';

/** Figures of a group of upgrades: of a wave, of a stratum, or of all. */
export interface GroupFigures {
  readonly planned: number;
  /** A collector that was rolled back counts as `rolledBack`, and also by the end of its upgrade before that. */
  readonly ends: Readonly<Record<EndState, number>>;
  /** Failures that were rolled back later. */
  readonly failedBefore: number;
  /** Durations of successful upgrades, from the first create to the end; null without any. */
  readonly durations: Pick<DurationSummary, 'medianMs' | 'p95Ms'> | null;
}

/** A collector that was not upgraded, and not rolled back. */
export interface MissedCollector {
  readonly id: number;
  readonly name: string;
  readonly build: string;
  readonly wave: number;
  readonly state: string;
  readonly at: EpochMs | null;
  readonly reason: string;
}

export interface ReportFigures {
  readonly all: GroupFigures;
  /** By index of the wave. */
  readonly waves: ReadonlyMap<number, GroupFigures>;
  /** By index of the stratum. */
  readonly strata: ReadonlyMap<number, GroupFigures>;
  /** Successes and failures, also those that were rolled back later, oldest first. */
  readonly ends: ReadonlyArray<{ readonly at: EpochMs; readonly failed: boolean }>;
  /** In plan order, at most `missedMax`. */
  readonly missed: readonly MissedCollector[];
  readonly missedTotal: number;
  /** How many collectors were rolled back to each build. */
  readonly returned: ReadonlyMap<string, number>;
}

// The report is for people; the export has all collectors.
const missedMax = 500;

interface Group {
  planned: number;
  readonly ends: Record<EndState, number>;
  failedBefore: number;
  readonly durations: DurationMs[];
}

/** Adds up upgrades page by page, so that the whole fleet is never in memory. */
export function makeReportTally(): {
  add(upgrade: Upgrade): void;
  figures(): ReportFigures;
} {
  const all = emptyGroup();
  const waves = new Map<number, Group>();
  const strata = new Map<number, Group>();
  const ends: Array<{ at: EpochMs; failed: boolean }> = [];
  const missed: MissedCollector[] = [];
  const returned = new Map<string, number>();
  let missedTotal = 0;
  return {
    add: (upgrade) => {
      const { wave, stratum } = upgrade.identity;
      for (const group of [all, groupIn(waves, wave), groupIn(strata, stratum)]) count(group, upgrade);
      const { progress } = upgrade;
      const end = countedEnd(upgrade);
      if (end !== undefined) ends.push({ at: end.at, failed: end.state !== 'succeeded' });
      if (progress.state === 'succeeded') return;
      if (progress.state === 'rolledBack') {
        const { fromBuild } = upgrade.identity;
        returned.set(fromBuild, (returned.get(fromBuild) ?? 0) + 1);
        return;
      }
      missedTotal += 1;
      if (missed.length < missedMax) missed.push(missedOf(upgrade));
    },
    figures: () => ({
      all: finish(all),
      waves: finishAll(waves),
      strata: finishAll(strata),
      ends: ends.sort((one, other) => one.at - other.at),
      missed,
      missedTotal,
      returned,
    }),
  };
}

function emptyGroup(): Group {
  const ends = Object.fromEntries(endStates.map((state) => [state, 0])) as Record<EndState, number>;
  return { planned: 0, ends, failedBefore: 0, durations: [] };
}

function groupIn(groups: Map<number, Group>, key: number): Group {
  const group = groups.get(key) ?? emptyGroup();
  groups.set(key, group);
  return group;
}

/** One that was withdrawn before its retry counts as withdrawn only. */
function countedEnd(upgrade: Upgrade): EndOnBuild | undefined {
  return upgrade.progress.state === 'withdrawn' ? undefined : endOnBuild(upgrade);
}

function count(group: Group, upgrade: Upgrade): void {
  const { state } = upgrade.progress;
  const { firstStartedAt } = upgrade.tally;
  const end = countedEnd(upgrade);
  group.planned += 1;
  if (isEnd(state)) group.ends[state] += 1;
  if (end === undefined) return;
  if (state === 'rolledBack') {
    group.ends[end.state] += 1;
    if (end.state !== 'succeeded') group.failedBefore += 1;
  }
  if (end.state === 'succeeded' && firstStartedAt !== null) group.durations.push(end.at - firstStartedAt);
}

function finishAll(groups: ReadonlyMap<number, Group>): ReadonlyMap<number, GroupFigures> {
  return new Map(
    [...groups].sort(([one], [other]) => one - other).map(([key, group]) => [key, finish(group)]),
  );
}

function finish({ durations, ...counts }: Group): GroupFigures {
  const sorted = durations.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { ...counts, durations: sorted.length === 0 ? null : { medianMs: at(0.5), p95Ms: at(0.95) } };
}

function missedOf(upgrade: Upgrade): MissedCollector {
  const { collectorId: id, collectorName: name, fromBuild: build, wave } = upgrade.identity;
  const { state } = upgrade.progress;
  return { id, name, build, wave, state, at: endedAtOf(upgrade), reason: upgradeText(upgrade) };
}
