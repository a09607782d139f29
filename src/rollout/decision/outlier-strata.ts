import type { OutlierTally, Tally } from '../model/attributes.ts';
import type { RolloutView, StratumSummary } from '../model/rollout.ts';
import { heldStrataOf } from './assess.ts';

/** A stratum whose failures are outliers from the rest, with the figures (DESIGN §4, Strata). */
export interface OutlierStratum extends OutlierTally {
  readonly stratum: number;
  readonly label: string;
}

/** How a stratum stands over all waves. */
interface StratumTally extends Tally {
  readonly stratum: number;
  readonly active: number;
}

// The chance that a stratum no worse than the rest fails as often as this one did. With the rollout about to stop, one
// in twenty is reason enough to stop this stratum alone: what is wrong with it is seen sooner than by stopping all.
const chanceWhenTripped = 0.05;

// In a wave that tries each stratum, a stratum may also be held on less, once all that ran elsewhere has ended well:
// so many for each stratum that failed.
const wellPerOutlier = 4;

// One failure is in some stratum always, and says nothing about it, unless the wave was made to try each stratum.
const failuresWhenTripped = 2;

// While nothing is about to stop, a stratum is held only when chance can hardly explain it, and not for one failure.
// All strata share this chance: among many, one is an outlier by chance alone.
const chanceAtAnyTime = 0.001;
const failuresAtAnyTime = 2;

// More than this share of the plan's collectors, or of the strata tried, is no bad stratum but a bad build.
const membersShareMax = 0.5;
const strataShareMax = 0.2;

/** Strata to hold while the rollout goes on well: their failures can hardly be chance. */
export function findOutliers(view: RolloutView): readonly OutlierStratum[] {
  const tallies = tallyStrata(view, view.strata);
  const chanceMax = chanceAtAnyTime / Math.max(1, tallies.length);
  const found: StratumTally[] = [];
  for (const suspect of suspectsOf(tallies)) {
    if (suspect.failed < failuresAtAnyTime) continue;
    const outliers = [...found, suspect];
    if (!standsOut(suspect, restOf(tallies, outliers), chanceMax)) continue;
    // Too many of them: it is the build, and the breaker's turn.
    if (!areFew(view, tallies, outliers)) return [];
    found.push(suspect);
  }
  return found.map((outlier) => describe(view, outlier, restOf(tallies, found)));
}

/** Why a wave is about to stop the rollout. */
export interface Trip {
  /** The wave tries each stratum with so many of its own: then one failure blocks its stratum. */
  readonly triesEachStratum: boolean;
  /** Whether it would be within bounds with these strata set aside. */
  isWithinBoundsWithout(strata: ReadonlySet<number>): boolean;
}

/**
 * The fewest strata that explain why the failures exceed what is allowed: each is an outlier from the rest, and without
 * them the failures would be within bounds.
 * @returns undefined when no few strata explain it: then it is the build
 */
export function findOutlierCauses(
  view: RolloutView,
  trip: Trip,
  strata: readonly StratumSummary[] = view.strata,
): readonly OutlierStratum[] | undefined {
  const tallies = tallyStrata(view, strata);
  const chanceMax = trip.triesEachStratum
    ? chanceWhenTripped
    : chanceWhenTripped / Math.max(1, tallies.length);
  const failuresMin = trip.triesEachStratum ? 1 : failuresWhenTripped;
  const outliers: StratumTally[] = [];
  for (const suspect of suspectsOf(tallies)) {
    if (suspect.failed < failuresMin) continue;
    outliers.push(suspect);
    if (!areFew(view, tallies, outliers)) return undefined;
    if (!trip.isWithinBoundsWithout(new Set(outliers.map(({ stratum }) => stratum)))) continue;
    const rest = restOf(tallies, outliers);
    const isRestWell =
      trip.triesEachStratum && didAllWell(rest, outliers.length) && outliers.every(failedMostly);
    if (isRestWell || outliers.every((each) => standsOut(each, rest, chanceMax))) {
      return outliers.map((each) => describe(view, each, rest));
    }
  }
  return undefined;
}

/** Whether strata could still turn out to explain it, if all that run elsewhere now end well. */
export function mayFindOutliers(view: RolloutView, trip: Trip): boolean {
  const suspects = new Set(view.strata.flatMap(({ failed, stratum }) => (failed > 0 ? [stratum] : [])));
  const hopeful = view.strata.map((each) => ({
    ...each,
    active: 0,
    succeeded: each.succeeded + (suspects.has(each.stratum) ? 0 : each.active),
  }));
  const isRunning = view.strata.some(({ active }) => active > 0);
  return isRunning && findOutlierCauses(view, trip, hopeful) !== undefined;
}

/** Strata that are not held, added up over the waves. */
function tallyStrata(view: RolloutView, strata: readonly StratumSummary[]): readonly StratumTally[] {
  if (!view.rollout.policy.isolateStrata || view.groups.strata.length < 2) return [];
  const held = heldStrataOf(view);
  const tallies = new Map<number, StratumTally>();
  // Known failures stand at the start as a debt, so that they count neither as failures nor as tries.
  for (const { stratum, failed } of view.rollout.acknowledgedStrata) {
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
  // Retried failures may leave less than was acknowledged.
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
  const left = new Set(without.map(({ stratum }) => stratum));
  const rest = { failed: 0, tried: 0, active: 0 };
  for (const { stratum, failed, tried, active } of tallies) {
    if (left.has(stratum)) continue;
    rest.failed += failed;
    rest.tried += tried;
    rest.active += active;
  }
  return rest;
}

function failedMostly({ failed, tried }: StratumTally): boolean {
  return failed * 2 >= tried;
}

function didAllWell({ failed, tried, active }: Rest, outliers: number): boolean {
  return failed === 0 && active === 0 && tried >= wellPerOutlier * outliers;
}

/** Few enough to be exceptions, together with what is held already. */
function areFew(
  view: RolloutView,
  tallies: readonly StratumTally[],
  outliers: readonly StratumTally[],
): boolean {
  const { strata } = view.groups;
  const sizeOf = (index: number) => (strata[index]?.sizes ?? []).reduce((sum, size) => sum + size, 0);
  const held = view.rollout.heldStrata;
  const members =
    outliers.reduce((sum, { stratum }) => sum + sizeOf(stratum), 0) +
    held.reduce((sum, { stratum }) => sum + sizeOf(stratum), 0);
  const planned = strata.reduce((sum, _stratum, index) => sum + sizeOf(index), 0);
  const tried = tallies.filter((each) => each.tried > 0).length + held.length;
  return (
    members <= planned * membersShareMax &&
    outliers.length + held.length <= Math.max(1, Math.floor(tried * strataShareMax))
  );
}

function standsOut({ failed, tried }: StratumTally, rest: Rest, chanceMax: number): boolean {
  // Half a failure more than was seen: a rest without any failure, but also without much to show, proves little.
  const share = (rest.failed + 0.5) / (rest.tried + 1);
  return chanceOfAtLeast(failed, tried, share) <= chanceMax;
}

/** The chance of at least so many failures among so many, when each fails with this chance (binomial). */
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
  return { stratum, label, failed, tried, elsewhere: { failed: rest.failed, tried: rest.tried } };
}
