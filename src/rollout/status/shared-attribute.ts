import type { RolloutView } from '../model/rollout.ts';
import type { SharedAttribute } from '../model/shared-attribute.ts';

// Two failures always have something in common.
const failuresMin = 3;
// Some failures happen by chance beside the ones with a common cause.
const explainedShareMin = 0.75;
// All descriptions share this chance: among many, one explains the failures by chance alone.
const chanceMax = 0.01;
// Collectors with a second attribute must fail so much more often than those with the first alone.
const pairGain = 1.5;

interface Tally {
  readonly failed: number;
  readonly tried: number;
}

/** Strata that have some attributes, and how their collectors did. */
interface Description extends Tally {
  readonly attributes: SharedAttribute['attributes'];
  /** Their places in the list of tallies. */
  readonly members: readonly number[];
}

/**
 * Names the shortest description of strata that explains the failures: most of them have it, and those that have it fail
 * far more often than the others. One value of `spreadBy`, a common beginning of its values, or a pair of them.
 * @returns null where nothing explains them better than chance, or the strata have several keys that can't be told apart
 */
export function findSharedAttribute({ rollout, groups, strata }: RolloutView): SharedAttribute | null {
  const { spreadBy } = rollout.policy;
  const tallies = groups.strata.map((): { failed: number; tried: number } => ({ failed: 0, tried: 0 }));
  const all = { failed: 0, tried: 0 };
  for (const { stratum, failed, succeeded } of strata) {
    const tally = tallies[stratum];
    if (tally === undefined) continue;
    for (const each of [tally, all]) {
      each.failed += failed;
      each.tried += failed + succeeded;
    }
  }
  if (all.failed < failuresMin || spreadBy.length === 0) return null;
  const values = groups.strata.map(({ label }) => label.split(' / '));
  if (values.some((parts) => parts.length !== spreadBy.length)) return null;
  const singles = spreadBy.flatMap((key, place) => describeValues({ key, place, values, tallies }));
  const explains = ({ failed }: Tally) => failed >= Math.max(failuresMin, explainedShareMin * all.failed);
  const explaining = singles.filter(explains);
  // A pair explains no failure that either of its halves does not: the others need not be made to be weighed.
  const pairs = pairsOf(explaining, tallies).filter(explains);
  const weighed = (singles.length * (singles.length + 1)) / 2;
  const [single, pair] = [explaining, pairs].map((of) => strongestOf(of, all, weighed));
  if (single === undefined || pair === undefined) return single ?? pair ?? null;
  return rateOf(pair) >= pairGain * rateOf(single) ? pair : single;
}

interface Values {
  readonly key: string;
  /** Where its values stand in the labels. */
  readonly place: number;
  readonly values: ReadonlyArray<readonly string[]>;
  readonly tallies: readonly Tally[];
}

/** The values under one key that failed, and the beginnings that several values share. */
function describeValues({ key, place, values, tallies }: Values): readonly Description[] {
  const exact = new Map<string, number[]>();
  for (const [stratum, parts] of values.entries()) {
    if (tallies[stratum]?.tried === 0) continue;
    const value = parts[place] ?? '';
    const members = exact.get(value) ?? [];
    members.push(stratum);
    exact.set(value, members);
  }
  const beginnings = new Map<string, number[][]>();
  for (const [value, members] of exact) {
    const word = /^[\p{L}]{3,}/u.exec(value)?.[0];
    if (word !== undefined) beginnings.set(word, [...(beginnings.get(word) ?? []), members]);
  }
  const shared = [...beginnings].filter(([, of]) => of.length > 1);
  return [...exact, ...shared.map(([word, of]) => [`${word}*`, of.flat()] as const)]
    .map(([value, members]) => describe([{ key, value }], members, tallies))
    .filter(({ failed }) => failed > 0);
}

/** Two attributes of different keys that together leave something out which each alone does not. */
function pairsOf(singles: readonly Description[], tallies: readonly Tally[]): readonly Description[] {
  return singles.flatMap((one, index) =>
    singles.slice(index + 1).flatMap((other) => {
      if (one.attributes[0]?.key === other.attributes[0]?.key) return [];
      const others = new Set(other.members);
      const members = one.members.filter((stratum) => others.has(stratum));
      if (members.length === one.members.length || members.length === others.size) return [];
      return [describe([...one.attributes, ...other.attributes], members, tallies)];
    }),
  );
}

function describe(
  attributes: SharedAttribute['attributes'],
  members: readonly number[],
  tallies: readonly Tally[],
): Description {
  let [failed, tried] = [0, 0];
  for (const stratum of members) {
    failed += tallies[stratum]?.failed ?? 0;
    tried += tallies[stratum]?.tried ?? 0;
  }
  return { attributes, members, failed, tried };
}

/** Among those that explain the failures better than chance, the one whose collectors fail most often. */
function strongestOf(
  descriptions: readonly Description[],
  all: Tally,
  weighed: number,
): SharedAttribute | undefined {
  return descriptions
    .flatMap(({ attributes, failed, tried }) => {
      const elsewhere = { failed: all.failed - failed, tried: all.tried - tried };
      if (elsewhere.tried === 0) return [];
      const chance = chanceOfAtLeast(failed, { tried, all }) * weighed;
      return chance <= chanceMax ? [{ attributes, failed, tried, elsewhere }] : [];
    })
    .sort((a, b) => rateOf(b) - rateOf(a) || b.failed - a.failed)[0];
}

/**
 * The chance that of all failures, dealt out blindly among all that were tried, at least so many fall among some of them
 * (hypergeometric).
 */
function chanceOfAtLeast(
  failed: number,
  { tried, all }: { readonly tried: number; readonly all: Tally },
): number {
  const others = all.tried - tried;
  const ways = logChoose(all.tried, all.failed);
  let chance = 0;
  for (let k = Math.max(failed, all.failed - others); k <= Math.min(tried, all.failed); k += 1)
    chance += Math.exp(logChoose(tried, k) + logChoose(others, all.failed - k) - ways);
  return chance;
}

function logChoose(of: number, some: number): number {
  return logFactorial(of) - logFactorial(some) - logFactorial(of - some);
}

/** Stirling's series; below ten, where it is too rough, as a sum. */
function logFactorial(n: number): number {
  if (n >= 10) return (n + 0.5) * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * n);
  let logs = 0;
  for (let k = 2; k <= n; k += 1) logs += Math.log(k);
  return logs;
}

function rateOf({ failed, tried }: Tally): number {
  return tried === 0 ? 0 : failed / tried;
}
