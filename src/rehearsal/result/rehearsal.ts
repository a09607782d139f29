import { invariant } from '../../base/assert.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { SeedResult } from '../play/play-seed.ts';

/** The summary of the rollouts of many seeds. */
export interface Rehearsal {
  readonly seeds: number;
  readonly beganAt: EpochMs;
  readonly planned: number;
  /** Collectors that were down or not installed when the rollout was planned, and joined it later. */
  readonly joined: Range;
  /** Planned and joined collectors that the build breaks. */
  readonly broken: Range;
  readonly harmed: Range;
  /** Others of them that were upgraded, in percent; the worst are the fewest. */
  readonly othersDone: Range;
  /** Others of them that failed for good. */
  readonly othersFailed: Range;
  /** Upgraded collectors that a rollback rolled back. */
  readonly rolledBack: Range;
  /** Upgraded collectors that a rollback did not roll back. */
  readonly leftBehind: Range;
  /** Collectors that were upgraded, and were not rolled back. */
  readonly upgraded: Range;
  /** Until the rollout ended, or stopped until a person acts. */
  readonly tookMs: Range;
  readonly requests: Range;
  /** The most frequent first. */
  readonly ends: readonly RehearsedEnd[];
  readonly waves: readonly RehearsedWave[];
  /** Strata that were held alone, by how many seeds held them; the most frequent first. */
  readonly heldStrata: ReadonlyArray<{ readonly label: string; readonly seeds: number }>;
  /** The seed that took the median time of those with the most frequent end. */
  readonly typical: Pick<SeedResult, 'seed' | 'night' | 'tookMs'>;
}

/** `p5` is the best of most seeds, `p95` the worst. For values that are better when higher, the other way round. */
export interface Range {
  readonly best: number;
  readonly p5: number;
  readonly median: number;
  readonly p95: number;
  readonly worst: number;
}

/** `reason`: of the first seed with this end. */
export interface RehearsedEnd extends Pick<SeedResult, 'state' | 'reasonKind' | 'reason'> {
  readonly seeds: number;
}

/** When a wave began and ended, over the seeds that reached it. */
export interface RehearsedWave {
  readonly name: string;
  readonly size: number;
  readonly opened: WaveInstants;
  readonly passed: WaveInstants;
}

/** Times since the start of the rollout. */
export interface WaveInstants {
  readonly seeds: number;
  /** null: no seed reached it. */
  readonly afterMs: { readonly p5: DurationMs; readonly median: DurationMs; readonly p95: DurationMs } | null;
}

/** Summarizes the results. @param results at least one */
export function summarizeSeeds(results: readonly SeedResult[], beganAt: EpochMs): Rehearsal {
  const rangeOf = (figureOf: (result: SeedResult) => number) => range(results.map(figureOf), 'lower');
  const shares = results.map((each) => percent(each.othersDone, each.planned + each.joined - each.broken));
  return {
    seeds: results.length,
    beganAt,
    planned: results[0]?.planned ?? 0,
    joined: rangeOf(({ joined }) => joined),
    broken: rangeOf(({ broken }) => broken),
    harmed: rangeOf(({ harmed }) => harmed),
    othersDone: range(shares, 'higher'),
    othersFailed: rangeOf(({ othersFailed }) => othersFailed),
    rolledBack: rangeOf(({ rolledBack }) => rolledBack),
    leftBehind: rangeOf(({ state, upgraded }) => (state === 'rolledBack' ? upgraded : 0)),
    upgraded: range(
      results.map((each) => each.upgraded),
      'higher',
    ),
    tookMs: rangeOf(({ tookMs }) => tookMs),
    requests: rangeOf(({ requests }) => requests),
    ends: countEnds(results),
    waves: summarizeWaves(results, beganAt),
    heldStrata: countHeld(results),
    typical: typicalOf(results),
  };
}

/** By nearest rank. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? 0;
}

function range(values: readonly number[], better: 'lower' | 'higher'): Range {
  const sorted = [...values].sort((a, b) => (better === 'lower' ? a - b : b - a));
  return {
    best: quantile(sorted, 0),
    p5: quantile(sorted, 0.05),
    median: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    worst: quantile(sorted, 1),
  };
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.round((part / whole) * 1_000) / 10;
}

function countEnds(results: readonly SeedResult[]): readonly RehearsedEnd[] {
  const ends = new Map<string, { -readonly [Key in keyof RehearsedEnd]: RehearsedEnd[Key] }>();
  for (const { state, reasonKind, reason } of results) {
    const key = `${state}/${reasonKind}`;
    const end = ends.get(key) ?? { state, reasonKind, reason, seeds: 0 };
    ends.set(key, end);
    end.seeds += 1;
  }
  return [...ends.values()].sort((a, b) => b.seeds - a.seeds);
}

function typicalOf(results: readonly SeedResult[]): Rehearsal['typical'] {
  const [end] = countEnds(results);
  const alike = results
    .filter(({ state, reasonKind }) => state === end?.state && reasonKind === end.reasonKind)
    .sort((a, b) => a.tookMs - b.tookMs);
  const typical = alike[Math.floor((alike.length - 1) / 2)];
  invariant(typical !== undefined, 'a rehearsal plays a seed');
  return { seed: typical.seed, night: typical.night, tookMs: typical.tookMs };
}

function summarizeWaves(results: readonly SeedResult[], beganAt: EpochMs): readonly RehearsedWave[] {
  return (results[0]?.waves ?? []).map(({ name, size }, index) => {
    const instants = (instant: 'openedAt' | 'passedAt'): WaveInstants => {
      const known = results.flatMap(({ waves }) => waves[index]?.[instant] ?? []).map((at) => at - beganAt);
      if (known.length === 0) return { seeds: 0, afterMs: null };
      const { p5, median, p95 } = range(known, 'lower');
      return { seeds: known.length, afterMs: { p5, median, p95 } };
    };
    return { name, size, opened: instants('openedAt'), passed: instants('passedAt') };
  });
}

function countHeld(results: readonly SeedResult[]): Rehearsal['heldStrata'] {
  const seeds = new Map<string, number>();
  for (const { heldStrata } of results)
    for (const label of new Set(heldStrata)) seeds.set(label, (seeds.get(label) ?? 0) + 1);
  return [...seeds].map(([label, count]) => ({ label, seeds: count })).sort((a, b) => b.seeds - a.seeds);
}
