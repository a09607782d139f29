import { compareBuildVersions } from '../../base/build-version.ts';
import { groupBy, sumOf } from '../../base/grouping.ts';
import type { DurationMs } from '../../base/time.ts';
import type { BuildOutcome } from '../../contract/admin/builds.ts';
import { buildOutcomeText } from '../messages/sentences.ts';
import { formatAttributes, type Tally } from '../model/attributes.ts';
import { type BuildFigures, type BuildRecord, failedIn } from './build-record.ts';

// More do not fit an answer that lists many builds.
const strataMax = 200;
// Fewer are found: each explains the failures of a rollout, or was held.
const groupsMax = 50;

/** Sums the records of rollouts into one row for each build, the newest build first. */
export function summarizeBuilds(records: readonly BuildRecord[]): readonly BuildOutcome[] {
  const tried = records.filter((record) => figuresOf(record).length > 0);
  const failedOnce = labelsOfFailed(tried);
  return [...groupBy(tried, ({ build }) => build)]
    .map(([build, own]) => outcomeOf(build, own, failedOnce))
    .sort((a, b) => compareBuildVersions(b.build, a.build) ?? 0);
}

/** Groups that failed on any build. Their successes on the other builds count as well, or their risk would never fall. */
function labelsOfFailed(records: readonly BuildRecord[]): ReadonlySet<string> {
  const failed = records.flatMap(({ groups }) => groups.filter((group) => group.failed > 0));
  return new Set(failed.map(({ attributes }) => formatAttributes(attributes)));
}

function outcomeOf(
  build: string,
  records: readonly BuildRecord[],
  failedOnce: ReadonlySet<string>,
): BuildOutcome {
  const figures = records.flatMap(figuresOf);
  const outcome = {
    build,
    ...totalOf(figures),
    rollouts: records.length,
    lastEndedAt: Math.max(...records.map(({ endedAt }) => endedAt)),
    medianMs: weightedMedian(figures),
    strata: strataOf(records),
    groups: groupsOf(records)
      .filter(({ label }) => failedOnce.has(label))
      .slice(0, groupsMax),
  };
  return { ...outcome, text: buildOutcomeText(outcome) };
}

function figuresOf({ strata, others }: BuildRecord): readonly BuildFigures[] {
  return others === null ? strata : [...strata, others];
}

function totalOf(figures: readonly BuildFigures[]): { readonly tried: number; readonly failed: number } {
  return {
    tried: sumOf(figures, (each) => each.tried),
    failed: sumOf(figures, (each) => failedIn(each.failed)),
  };
}

/** Those in which the largest share failed first. */
function groupsOf(records: readonly BuildRecord[]): BuildOutcome['groups'] {
  const groups = groupBy(
    records.flatMap((record) => record.groups),
    ({ attributes }) => formatAttributes(attributes),
  );
  return [...groups]
    .map(([label, figures]) => ({
      ...{ label, attributes: figures[0]?.attributes ?? [] },
      tried: sumOf(figures, ({ tried }) => tried),
      failed: sumOf(figures, ({ failed }) => failed),
    }))
    .sort(byFailedShare);
}

/** The median of medians, each weighted by the upgrades behind it. */
function weightedMedian(figures: readonly BuildFigures[]): DurationMs | null {
  const medians = figures
    .flatMap(({ medianMs, returned }) => (medianMs === null ? [] : [{ medianMs, returned }]))
    .sort((a, b) => a.medianMs - b.medianMs);
  let left = sumOf(medians, ({ returned }) => returned) / 2;
  for (const { medianMs, returned } of medians) {
    left -= returned;
    if (left <= 0) return medianMs;
  }
  return null;
}

/** Those in which the largest share failed first, then those that were tried most. */
function strataOf(records: readonly BuildRecord[]): BuildOutcome['strata'] {
  const strata = groupBy(
    records.flatMap((record) => record.strata),
    ({ label }) => label,
  );
  return [...strata]
    .map(([label, figures]) => ({ label, ...totalOf(figures) }))
    .filter(({ tried }) => tried > 0)
    .sort(byFailedShare)
    .slice(0, strataMax);
}

function byFailedShare(a: Tally, b: Tally): number {
  return b.failed / b.tried - a.failed / a.tried || b.failed - a.failed || b.tried - a.tried;
}
