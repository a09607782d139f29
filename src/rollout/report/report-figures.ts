import type { DurationMs, EpochMs } from '../../base/time.ts';
import { upgradeText } from '../messages/upgrade-reasons.ts';
import type { DurationSummary } from '../model/rollout.ts';
import { type EndState, endStates, isEnd, isFailed, type Upgrade } from '../model/upgrade.ts';
import { endedAtOf } from '../model/upgrade-figures.ts';

/** Figures of a group of upgrades: of a wave, of a stratum, or of all. */
export interface GroupFigures {
  readonly planned: number;
  readonly ends: Readonly<Record<EndState, number>>;
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
  /** Successes and failures, oldest first. */
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
      if (progress.state === 'succeeded' || isFailed(progress.state))
        ends.push({ at: endedAtOf(upgrade) ?? 0, failed: progress.state !== 'succeeded' });
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
  return { planned: 0, ends, durations: [] };
}

function groupIn(groups: Map<number, Group>, key: number): Group {
  const group = groups.get(key) ?? emptyGroup();
  groups.set(key, group);
  return group;
}

function count(group: Group, { progress, tally }: Upgrade): void {
  group.planned += 1;
  if (!isEnd(progress.state)) return;
  group.ends[progress.state] += 1;
  if (progress.state === 'succeeded' && tally.firstStartedAt !== null)
    group.durations.push(progress.endedAt - tally.firstStartedAt);
}

function finishAll(groups: ReadonlyMap<number, Group>): ReadonlyMap<number, GroupFigures> {
  return new Map(
    [...groups].sort(([one], [other]) => one - other).map(([key, group]) => [key, finish(group)]),
  );
}

function finish({ planned, ends, durations }: Group): GroupFigures {
  const sorted = durations.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { planned, ends, durations: sorted.length === 0 ? null : { medianMs: at(0.5), p95Ms: at(0.95) } };
}

function missedOf(upgrade: Upgrade): MissedCollector {
  const { collectorId: id, collectorName: name, fromBuild: build, wave } = upgrade.identity;
  const { state } = upgrade.progress;
  return { id, name, build, wave, state, at: endedAtOf(upgrade), reason: upgradeText(upgrade) };
}
