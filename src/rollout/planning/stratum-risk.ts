import { isSameBuild } from '../../base/build-version.ts';
import { groupBy, sumOf } from '../../base/grouping.ts';

/** How many upgrades ended rollouts tried, and how many of them failed. */
export interface Trials {
  readonly tried: number;
  readonly failed: number;
}

/** What a build did in ended rollouts. */
export interface BuildTrials extends Trials {
  readonly build: string;
  readonly strata: ReadonlyArray<Trials & { readonly label: string }>;
}

/** What ended rollouts tell of the strata of a plan, by their labels. */
export interface StratumRisk {
  /** Upgrades of all strata to all builds. */
  readonly all: Trials;
  /** Upgrades of a stratum to all builds. */
  trialsOf(label: string): Trials;
  /** The share of a stratum that is expected to fail on the target, from 0 to 1. Where little was tried, it is that of all. */
  expectedShareOf(label: string): number;
  /** Orders strata: a canary first tries those that failed most, and those that were never tried. */
  riskOf(label: string): number;
}

// What a stratum did with other builds says less of this one, however often it was tried.
const otherBuildsTriedMax = 10;

/** @param history of each build, in any order */
export function makeStratumRisk(history: readonly BuildTrials[], targetBuild: string): StratumRisk {
  const rows = history.flatMap(({ build, strata }) =>
    strata.map((stratum) => ({ ...stratum, isTarget: isSameBuild(build, targetBuild) })),
  );
  const byLabel = groupBy(rows, ({ label }) => label);
  const all = totalOf(history);
  const shareOf = (label: string, prior: Trials): number => {
    const known = byLabel.get(label) ?? [];
    const own = totalOf(known.filter(({ isTarget }) => isTarget));
    const others = totalOf(known.filter(({ isTarget }) => !isTarget));
    const weight = Math.min(1, otherBuildsTriedMax / Math.max(1, others.tried));
    return (
      (own.failed + weight * others.failed + prior.failed) / (own.tried + weight * others.tried + prior.tried)
    );
  };
  return {
    all,
    trialsOf: (label) => totalOf(byLabel.get(label) ?? []),
    expectedShareOf: (label) => shareOf(label, { tried: 1, failed: all.failed / Math.max(1, all.tried) }),
    // Laplace's rule of succession: half of what was never tried fails.
    riskOf: (label) => shareOf(label, { tried: 2, failed: 1 }),
  };
}

// One failure of two is no finding.
const worstTriedMin = 3;
const worstMax = 5;

/** Those in which the largest share failed, the worst first. @param strata in that order */
export function worstStrata<Stratum extends Trials>(strata: readonly Stratum[]): readonly Stratum[] {
  return strata.filter(({ tried, failed }) => tried >= worstTriedMin && failed > 0).slice(0, worstMax);
}

function totalOf(trials: readonly Trials[]): Trials {
  return { tried: sumOf(trials, ({ tried }) => tried), failed: sumOf(trials, ({ failed }) => failed) };
}
