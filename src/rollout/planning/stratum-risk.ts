import { isSameBuild } from '../../base/build-version.ts';
import { groupBy, sumOf } from '../../base/grouping.ts';
import type { Attribute } from '../model/attributes.ts';

/** How many upgrades ended rollouts tried, and how many of them failed. */
export interface Trials {
  readonly tried: number;
  readonly failed: number;
}

/** What a build did in ended rollouts. */
export interface BuildTrials extends Trials {
  readonly build: string;
  readonly strata: ReadonlyArray<Trials & { readonly label: string }>;
  /** Of collectors with the same attributes, whatever their strata. */
  readonly groups: ReadonlyArray<
    Trials & {
      /** `fields.rack=r7` */
      readonly label: string;
      readonly attributes: readonly Attribute[];
    }
  >;
}

type GroupTrials = BuildTrials['groups'][number];

/** A group of which more are expected to fail than of all. */
export interface FailedGroup extends GroupTrials {
  /** From 0 to 1, on the target. */
  readonly expectedShare: number;
}

/** What ended rollouts tell of the strata of a plan, by their labels. */
export interface StratumRisk {
  /** Upgrades of all strata to all builds. */
  readonly all: Trials;
  /** Upgrades of a stratum to all builds. */
  trialsOf(label: string): Trials;
  /**
   * The share of a stratum that is expected to fail on the target, from 0 to 1, without members of risky groups. Where little was
   * tried, it is that of all.
   */
  expectedShareOf(label: string): number;
  /** Orders strata: a canary first tries those that failed most, and those that were never tried. */
  riskOf(label: string): number;
}

// What a stratum did with other builds says less of this one, however often it was tried.
const otherBuildsTriedMax = 10;

/** @param history of each build, in any order */
export function makeStratumRisk(history: readonly BuildTrials[], targetBuild: string): StratumRisk {
  const rows = history.flatMap(({ build, strata }) => ofBuild(strata, isSameBuild(build, targetBuild)));
  const byLabel = groupBy(rows, ({ label }) => label);
  const all = totalOf(history);
  const shareOf = (label: string, prior: Trials) => expectedShare(byLabel.get(label) ?? [], prior);
  const outside = shareOutside(riskyGroups(history, targetBuild), all);
  return {
    all,
    trialsOf: (label) => totalOf(byLabel.get(label) ?? []),
    expectedShareOf: (label) => outside * shareOf(label, oneLike(all)),
    // Laplace's rule of succession: half of what was never tried fails.
    riskOf: (label) => shareOf(label, { tried: 2, failed: 1 }),
  };
}

// More groups would leave the canary few seats for anything else.
const riskyGroupsMax = 10;

/** Groups of collectors of which more are expected to fail than of all, the riskiest first: a canary tries one of each. */
export function riskyGroups(history: readonly BuildTrials[], targetBuild: string): readonly FailedGroup[] {
  const rows = history.flatMap(({ build, groups }) => ofBuild(groups, isSameBuild(build, targetBuild)));
  const all = totalOf(history);
  const known = [...groupBy(rows, ({ label }) => label)].flatMap(([label, own]) => {
    const share = expectedShare(own, oneLike(all));
    const isRisky = share > all.failed / Math.max(1, all.tried);
    const [first] = own;
    return first !== undefined && isRisky
      ? [{ expectedShare: share, label, attributes: first.attributes, ...totalOf(own) }]
      : [];
  });
  known.sort((a, b) => b.expectedShare - a.expectedShare);
  return known.filter(isFinding).slice(0, riskyGroupsMax);
}

/** The share of failures that no risky group explains. Groups by the same keys may be nearly the same collectors. */
function shareOutside(groups: readonly FailedGroup[], all: Trials): number {
  const alike = groupBy(groups, ({ attributes }) => attributes.map(({ key }) => key).join());
  const explained = sumOf([...alike.values()], (some) => Math.max(...some.map(({ failed }) => failed)));
  return all.failed === 0 ? 1 : Math.max(0, all.failed - explained) / all.failed;
}

function ofBuild<Row extends Trials>(rows: readonly Row[], isTarget: boolean) {
  return rows.map((row) => ({ ...row, isTarget }));
}

/** The share that is expected to fail on the target. @param prior what is assumed beside what was tried */
function expectedShare(rows: ReadonlyArray<Trials & { readonly isTarget: boolean }>, prior: Trials): number {
  const own = totalOf(rows.filter(({ isTarget }) => isTarget));
  const others = totalOf(rows.filter(({ isTarget }) => !isTarget));
  const weight = Math.min(1, otherBuildsTriedMax / Math.max(1, others.tried));
  return (
    (own.failed + weight * others.failed + prior.failed) / (own.tried + weight * others.tried + prior.tried)
  );
}

/** One upgrade that fails as often as these. */
function oneLike({ tried, failed }: Trials): Trials {
  return { tried: 1, failed: failed / Math.max(1, tried) };
}

// One failure of two is no finding.
const worstTriedMin = 3;
const worstMax = 5;

/** Those in which the largest share failed, the worst first. @param strata in that order */
export function worstStrata<Stratum extends Trials>(strata: readonly Stratum[]): readonly Stratum[] {
  return strata.filter(isFinding).slice(0, worstMax);
}

/** Strata and groups of an outcome in which the largest share failed, the worst first. */
export function worstParts({
  strata,
  groups,
}: Pick<BuildTrials, 'strata' | 'groups'>): ReadonlyArray<Trials & { readonly label: string }> {
  const share = ({ tried, failed }: Trials) => failed / Math.max(1, tried);
  // A group that was held is a stratum of its rollout as well.
  const others = strata.filter(({ label }) => groups.every((group) => group.label !== label));
  const parts: ReadonlyArray<Trials & { readonly label: string }> = [...others, ...groups];
  return worstStrata(parts.toSorted((a, b) => share(b) - share(a)));
}

function isFinding({ tried, failed }: Trials): boolean {
  return tried >= worstTriedMin && failed > 0;
}

function totalOf(trials: readonly Trials[]): Trials {
  return { tried: sumOf(trials, ({ tried }) => tried), failed: sumOf(trials, ({ failed }) => failed) };
}
