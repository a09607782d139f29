import { sumOf } from '../../base/grouping.ts';
import { showCount } from '../../base/singular-or-plural.ts';
import { formatDuration } from '../../base/time.ts';
import { failedStates } from '../model/upgrade.ts';
import type { GroupFigures, ReportFigures } from './report-figures.ts';

/** A column that only a rollout with collectors that were rolled back has. They count by the end of their upgrade, too. */
export function rolledBackColumns({ all }: ReportFigures): readonly string[] {
  return all.ends.rolledBack === 0 ? [] : ['rolled back later'];
}

export function rolledBackCells(figures: ReportFigures, group: GroupFigures | undefined): readonly string[] {
  return rolledBackColumns(figures).map(() => showCount(group?.ends.rolledBack ?? 0));
}

/** How many failed, and were not rolled back later. */
export function failedIn({ ends }: GroupFigures): number {
  return sumOf(failedStates, (state) => ends[state]);
}

export function durationText({ durations }: GroupFigures): string {
  if (durations === null) return '';
  return `median ${formatDuration(durations.medianMs)}, p95 ${formatDuration(durations.p95Ms)}`;
}
