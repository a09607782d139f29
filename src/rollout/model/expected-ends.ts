import { groupBy, sumOf } from '../../base/grouping.ts';
import type { DurationMs } from '../../base/time.ts';
import { normalHazard, usualSpread } from './log-normal.ts';
import type { DurationSummary } from './rollout.ts';

/** An upgrade whose task is running. */
export interface RunningUpgrade {
  readonly stratum: number;
  /** Since its create. */
  readonly ageMs: DurationMs;
}

/** When running upgrades are expected to end. */
export interface ExpectedEnds {
  /** The usual duration of the running upgrades; without any, that of the rollout. */
  readonly usualMs: DurationMs;
  /** For each running upgrade, the chance that it ends within the next millisecond. */
  readonly endsPerMs: readonly number[];
}

/** Durations of ended upgrades, and ages of running ones. */
interface Sample {
  readonly ended: readonly DurationSummary[];
  readonly running: readonly RunningUpgrade[];
  /** What was known before. */
  readonly priorMs: DurationMs;
  readonly expectMs: DurationMs;
}

const { sigma } = usualSpread(1);

/** The prior estimate of a stratum counts as this many ends, because fewer ends say little about the next one. */
export const priorEnds = 10;

// An upgrade that takes longer hangs, and says nothing about the others.
const deviationsMax = 3;

// Each round doubles the number of correct digits.
const rounds = 4;

// An end that no list has shown yet counts as running, and looks like a slow upgrade. So ages lengthen an estimate only up to
// this factor. Otherwise lists would be read more rarely because of it, and more ends would be overlooked.
const knownTimesMax = 1.5;

/**
 * Estimates how long upgrades take, from ended and from running ones. Short upgrades end first, so the mean of the ended ones
 * would be too short at the start of a rollout. The estimate of a stratum starts at that of the rollout, which starts at the
 * duration that the policy expects.
 */
export function expectEnds({
  running,
  durations,
  expectMs,
}: {
  readonly running: readonly RunningUpgrade[];
  /** By stratum. */
  readonly durations: ReadonlyMap<number, DurationSummary>;
  readonly expectMs: DurationMs;
}): ExpectedEnds {
  const ended = [...durations.values()];
  const ofAllMs = estimateMedian({ ended, running, priorMs: expectMs, expectMs });
  const medianOf = new Map(
    [...groupBy(running, ({ stratum }) => stratum)].map(([stratum, alike]) => {
      const own = durations.get(stratum);
      const sample = { ended: own === undefined ? [] : [own], running: alike, priorMs: ofAllMs, expectMs };
      return [stratum, estimateMedian(sample)];
    }),
  );
  const medians = running.map(({ stratum }) => medianOf.get(stratum) ?? ofAllMs);
  return {
    usualMs: medians.length === 0 ? ofAllMs : sumOf(medians, (each) => each) / medians.length,
    endsPerMs: running.map(({ ageMs }, index) => {
      const deviations = deviationsOf(ageMs, medians[index] ?? ofAllMs);
      return normalHazard(deviations) / (sigma * Math.max(1, ageMs));
    }),
  };
}

/** The most likely median of log-normal durations for a sample, by Newton's method. */
function estimateMedian({ ended, running, priorMs, expectMs }: Sample): DurationMs {
  let medianMs = priorMs;
  for (let round = 0; round < rounds; round += 1) {
    let pull = priorEnds * Math.log(priorMs / medianMs);
    let weight = priorEnds;
    for (const { count, medianMs: endedMs } of ended) {
      pull += count * Math.log(endedMs / medianMs);
      weight += count;
    }
    for (const { ageMs } of running) {
      const deviations = deviationsOf(ageMs, medianMs);
      const hazard = normalHazard(deviations);
      pull += sigma * hazard;
      weight += hazard * (hazard - deviations);
    }
    medianMs *= Math.exp(pull / weight);
  }
  const knownMs = Math.max(expectMs, ...ended.map((each) => each.medianMs));
  return Math.min(medianMs, knownTimesMax * knownMs);
}

function deviationsOf(ageMs: DurationMs, medianMs: DurationMs): number {
  return Math.min(deviationsMax, Math.log(Math.max(1, ageMs) / medianMs) / sigma);
}
