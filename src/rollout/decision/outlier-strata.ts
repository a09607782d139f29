import { sumOf } from '../../base/grouping.ts';
import type { OutlierTally, Tally } from '../model/attributes.ts';
import type { RolloutView, StratumSummary } from '../model/rollout.ts';
import { heldStrataOf } from './assess.ts';

/** An outlier stratum with its figures (DESIGN §4, Strata). */
export interface OutlierStratum extends OutlierTally {
  readonly stratum: number;
  readonly label: string;
}

/** The figures of a stratum over all waves. */
interface StratumTally extends Tally {
  readonly stratum: number;
  readonly active: number;
}

// The chance that a stratum no worse than the others fails as often as this one. With the rollout about to stop, one in
// twenty is enough to hold only this stratum, because its problem is then easier to see.
const chanceWhenBreached = 0.05;

// In a wave that tries each stratum, weaker evidence is enough once all other upgrades have succeeded: this many for each
// stratum that failed.
const successesPerOutlier = 4;

// A single failure always belongs to some stratum, and is no evidence, unless the wave was made to try each stratum.
const failuresWhenBreached = 2;

// While nothing is about to stop, a stratum is held only when chance hardly explains its failures, and never for one
// failure. All strata share this chance, because among many strata one is an outlier by chance.
const chanceAtAnyTime = 0.001;
const failuresAtAnyTime = 2;

// If a larger share of collectors or of the tried strata is affected, the build is the cause.
const membersShareMax = 0.5;
const strataShareMax = 0.2;

/** Strata to hold while the rollout is within its limits: chance hardly explains their failures. */
export function findOutliers(view: RolloutView): readonly OutlierStratum[] {
  const tallies = tallyStrata(view, view.strata);
  const chanceMax = chanceAtAnyTime / Math.max(1, tallies.length);
  const found: StratumTally[] = [];
  for (const suspect of suspectsOf(tallies)) {
    if (suspect.failed < failuresAtAnyTime) continue;
    const outliers = [...found, suspect];
    if (!isOutlier(suspect, restOf(tallies, outliers), chanceMax)) continue;
    // Too many strata: the build is the cause, and the breach counts.
    if (!areFew(view, tallies, outliers)) return [];
    found.push(suspect);
  }
  return found.map((outlier) => describe(view, outlier, restOf(tallies, found)));
}

/** Why a wave is about to stop the rollout. */
export interface Breach {
  /** The wave has this many collectors of each stratum: then one failure holds its stratum. */
  readonly triesEachStratum: boolean;
  /** Whether the wave would be within its limit with these strata set aside. */
  isWithinBoundsWithout(strata: ReadonlySet<number>): boolean;
}

/**
 * The smallest set of strata that explains the exceeded limit: each is an outlier, and without them the failures would be
 * within the limit.
 * @returns undefined when no small set explains it: then the build is the cause
 */
export function findOutlierCauses(
  view: RolloutView,
  breach: Breach,
  strata: readonly StratumSummary[] = view.strata,
): readonly OutlierStratum[] | undefined {
  const tallies = tallyStrata(view, strata);
  const chanceMax = breach.triesEachStratum
    ? chanceWhenBreached
    : chanceWhenBreached / Math.max(1, tallies.length);
  const failuresMin = breach.triesEachStratum ? 1 : failuresWhenBreached;
  const outliers: StratumTally[] = [];
  for (const suspect of suspectsOf(tallies)) {
    if (suspect.failed < failuresMin) continue;
    outliers.push(suspect);
    if (!areFew(view, tallies, outliers)) return undefined;
    if (!breach.isWithinBoundsWithout(new Set(outliers.map(({ stratum }) => stratum)))) continue;
    const rest = restOf(tallies, outliers);
    const isRestHealthy =
      breach.triesEachStratum && hasAllSucceeded(rest, outliers.length) && outliers.every(failedMostly);
    if (isRestHealthy || outliers.every((each) => isOutlier(each, rest, chanceMax))) {
      return outliers.map((each) => describe(view, each, rest));
    }
  }
  return undefined;
}

/** Whether a few strata could still explain the failures, if all running upgrades elsewhere succeed. */
export function mayFindOutliers(view: RolloutView, breach: Breach): boolean {
  const suspects = new Set(view.strata.flatMap(({ failed, stratum }) => (failed > 0 ? [stratum] : [])));
  const hopeful = view.strata.map((each) => ({
    ...each,
    active: 0,
    succeeded: each.succeeded + (suspects.has(each.stratum) ? 0 : each.active),
  }));
  const isRunning = view.strata.some(({ active }) => active > 0);
  return isRunning && findOutlierCauses(view, breach, hopeful) !== undefined;
}

/** Adds up the strata that are not held, over the waves. */
function tallyStrata(view: RolloutView, strata: readonly StratumSummary[]): readonly StratumTally[] {
  if (view.rollout.policy.isolate === 'off' || view.groups.strata.length < 2) return [];
  const held = heldStrataOf(view);
  const tallies = new Map<number, StratumTally>();
  // Acknowledged failures are subtracted first: they count neither as failures nor as attempts.
  for (const { stratum, failed } of view.rollout.strata.acknowledged) {
    if (held.has(stratum)) continue;
    const debt = (tallies.get(stratum)?.failed ?? 0) - failed;
    tallies.set(stratum, { stratum, failed: debt, tried: debt, active: 0 });
  }
  for (const { stratum, failed, succeeded, active } of strata) {
    if (held.has(stratum)) continue;
    const sum = tallies.get(stratum) ?? { stratum, failed: 0, tried: 0, active: 0 };
    tallies.set(stratum, {
      stratum,
      failed: sum.failed + failed,
      tried: sum.tried + failed + succeeded,
      active: sum.active + active,
    });
  }
  // After retries, fewer failures may exist than were acknowledged.
  return [...tallies.values()].map((tally) => {
    const excess = Math.min(0, tally.failed);
    return { ...tally, failed: tally.failed - excess, tried: tally.tried - excess };
  });
}

/** Strata with failures, the worst first. */
function suspectsOf(tallies: readonly StratumTally[]): readonly StratumTally[] {
  return tallies
    .filter(({ failed }) => failed > 0)
    .sort((a, b) => b.failed / b.tried - a.failed / a.tried || b.failed - a.failed || a.stratum - b.stratum);
}

/** All strata but some, added up. */
type Rest = Omit<StratumTally, 'stratum'>;

function restOf(tallies: readonly StratumTally[], without: readonly StratumTally[]): Rest {
  const rest = tallies.filter((each) => !without.includes(each));
  return {
    failed: sumOf(rest, ({ failed }) => failed),
    tried: sumOf(rest, ({ tried }) => tried),
    active: sumOf(rest, ({ active }) => active),
  };
}

function failedMostly({ failed, tried }: StratumTally): boolean {
  return failed * 2 >= tried;
}

function hasAllSucceeded({ failed, tried, active }: Rest, outliers: number): boolean {
  return failed === 0 && active === 0 && tried >= successesPerOutlier * outliers;
}

/** Few enough to be exceptions, together with the strata that are held already. */
function areFew(
  view: RolloutView,
  tallies: readonly StratumTally[],
  outliers: readonly StratumTally[],
): boolean {
  const { strata } = view.groups;
  const sizes = strata.map((each) => sumOf(each.sizes, (size) => size));
  // A group may be held here before it has a collector.
  const held = view.rollout.strata.held.filter(({ stratum }) => (sizes[stratum] ?? 0) > 0);
  const members = sumOf([...outliers, ...held], ({ stratum }) => sizes[stratum] ?? 0);
  const planned = sumOf(sizes, (size) => size);
  const tried = tallies.filter((each) => each.tried > 0).length + held.length;
  return (
    members <= planned * membersShareMax &&
    outliers.length + held.length <= Math.max(1, Math.floor(tried * strataShareMax))
  );
}

function isOutlier({ failed, tried }: StratumTally, rest: Rest, chanceMax: number): boolean {
  // Half a failure more than observed, because few upgrades without a failure are weak evidence.
  const share = (rest.failed + 0.5) / (rest.tried + 1);
  return chanceOfAtLeast(failed, tried, share) <= chanceMax;
}

/** The chance of at least this many failures among this many upgrades, each failing with this chance (binomial). */
function chanceOfAtLeast(failed: number, tried: number, chance: number): number {
  if (chance >= 1) return 1;
  let below = 0;
  let logCombinations = 0;
  for (let k = 0; k < failed; k += 1) {
    if (k > 0) logCombinations += Math.log((tried - k + 1) / k);
    below += Math.exp(logCombinations + k * Math.log(chance) + (tried - k) * Math.log1p(-chance));
  }
  return Math.max(0, 1 - below);
}

function describe(view: RolloutView, outlier: StratumTally, rest: Rest): OutlierStratum {
  const label = view.groups.strata[outlier.stratum]?.label ?? '';
  const { failed, tried, stratum } = outlier;
  const uncounted = sumOf(view.strata, (each) => each.failed) - failed - rest.failed;
  return {
    ...{ stratum, label, failed, tried, elsewhere: { failed: rest.failed, tried: rest.tried } },
    ...(uncounted > 0 && { uncounted }),
  };
}
