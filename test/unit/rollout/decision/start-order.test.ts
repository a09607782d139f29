import { describe, expect, it } from 'vitest';
import { normalChance, seededChance } from '../../../../src/base/chance.ts';
import { admissionOf } from '../../../../src/rollout/decision/admission.ts';
import type { DurationSummary } from '../../../../src/rollout/model/rollout.ts';
import { aPolicy, aRollout, aWave, startedAt as now, someGroups } from '../../../support/builders.ts';
import { aViewOfStrata } from '../../../support/view-cases.ts';

const usualMs = 300_000;
const sigma = 0.25;

interface Fleet {
  readonly slots: number;
  /** How many times as long as usual one in five takes. */
  readonly slowTimes: number;
  readonly knows: 'durations' | 'nothing';
  /** One in five of them is slow. Default: 5. */
  readonly strata?: number;
  readonly seed: number;
}

interface Running {
  readonly stratum: number;
  readonly durationMs: number;
  readonly endsAt: number;
}

const count = 600;

/** Upgrades a fleet in virtual time, by the admissions of the rule. @returns the strata in their order of start, and the end */
function play({ slots, slowTimes, knows, strata: strataCount = 5, seed }: Fleet) {
  const chance = seededChance(seed);
  const strata = Array.from({ length: count }, (_, index) => index % strataCount);
  const indexes = Array.from({ length: strataCount }, (_, index) => index);
  const groups = groupsOf(indexes);
  const durationsMs = strata.map(
    (stratum) => usualMs * (isSlow(stratum) ? slowTimes : 1) * Math.exp(sigma * normalChance(chance)),
  );
  const waiting = new Set(strata.keys());
  const started: number[] = [];
  const ended: Running[] = [];
  let running: Running[] = [];
  let at = 0;
  while (ended.length < count) {
    const durations = knows === 'nothing' ? new Map<number, DurationSummary>() : summarize(ended, indexes);
    const figures = indexes.map((stratum) => ({
      stratum,
      waiting: [...waiting].filter((index) => strata[index] === stratum).length,
      active: running.filter((each) => each.stratum === stratum).length,
      succeeded: ended.filter((each) => each.stratum === stratum).length,
    }));
    const candidates = indexes.map((lane) => ({
      lane,
      retries: [],
      pending: [...waiting]
        .filter((index) => strata[index] === lane)
        .slice(0, slots)
        .map((index) => ({ collectorId: index, order: index + 1 })),
    }));
    const view = aViewOfStrata(rolloutOf(slots), figures, {
      groups,
      slotsTaken: running.length,
      candidates,
      durations,
    });
    for (const { collectorId } of admissionOf(view, now).picks) {
      waiting.delete(collectorId);
      const [stratum = 0, durationMs = 0] = [strata[collectorId], durationsMs[collectorId]];
      started.push(stratum);
      running.push({ stratum, durationMs, endsAt: at + durationMs });
    }
    running = running.toSorted((a, b) => a.endsAt - b.endsAt);
    const [first, ...others] = running;
    if (first === undefined) break;
    at = first.endsAt;
    ended.push(first);
    running = others;
  }
  const lowerMs = durationsMs.reduce((sum, each) => sum + each, 0) / slots;
  return { started, timesLower: at / lowerMs };
}

const isSlow = (stratum: number) => stratum % 5 === 4;

function groupsOf(indexes: readonly number[]) {
  return someGroups({
    strata: indexes.map((stratum) => ({
      label: `${isSlow(stratum) ? 'Windows' : 'Linux'} / ${Math.floor(stratum / 5)}`,
      sizes: [count / indexes.length],
    })),
    lanes: indexes.map((stratum) => ({ stratum, timeZone: '', domains: [] })),
  });
}

function rolloutOf(slots: number) {
  return aRollout({ policy: aPolicy({ concurrency: slots }), waves: [aWave({ size: count })] });
}

function summarize(
  ended: readonly Running[],
  strata: readonly number[],
): ReadonlyMap<number, DurationSummary> {
  return new Map(
    strata.flatMap((stratum) => {
      const own = ended.filter((each) => each.stratum === stratum);
      if (own.length === 0) return [];
      const sumLog = own.reduce((sum, { durationMs }) => sum + Math.log(durationMs), 0);
      const medianMs = Math.exp(sumLog / own.length);
      return [[stratum, { count: own.length, medianMs, p95Ms: medianMs * Math.exp(1.645 * sigma) }] as const];
    }),
  );
}

/** Over several fleets, because the last upgrades of one decide much. */
function timesLower(fleet: Omit<Fleet, 'seed'>, seeds: readonly number[] = [1, 2]): number {
  const all = seeds.map((seed) => play({ ...fleet, seed }).timesLower);
  return all.reduce((sum, each) => sum + each, 0) / all.length;
}

describe('the order of starts', () => {
  it('lets a wave end a tenth sooner where a fifth of it takes three times as long', () => {
    const fleet = { slots: 60, slowTimes: 3 };
    const seeds = [1, 2, 3, 4, 5, 6];
    expect(timesLower({ ...fleet, knows: 'nothing' }, seeds)).toBeGreaterThan(1.17);
    expect(timesLower({ ...fleet, knows: 'durations' }, seeds)).toBeLessThan(1.09);
  });

  it('learns from strata with a value in common where each has few collectors', () => {
    expect(timesLower({ slots: 60, slowTimes: 3, knows: 'durations', strata: 100 })).toBeLessThan(1.1);
  });

  it('does no harm with few slots, or where all take as long', () => {
    for (const fleet of [
      { slots: 10, slowTimes: 3 },
      { slots: 60, slowTimes: 1 },
    ])
      expect(timesLower({ ...fleet, knows: 'durations' })).toBeLessThan(
        timesLower({ ...fleet, knows: 'nothing' }) + 0.005,
      );
  });

  it('is that of the plan while no duration is known', () => {
    const { started } = play({ slots: 60, slowTimes: 3, knows: 'nothing', seed: 1 });
    expect(started.every((stratum, index) => stratum === index % 5)).toBe(true);
  });

  it('has some of each stratum in each tenth, so that what the others show is not late', () => {
    const { started } = play({ slots: 60, slowTimes: 3, knows: 'durations', seed: 1 });
    const slow = Array.from({ length: 10 }, (_, tenth) =>
      started.slice(tenth * 60, (tenth + 1) * 60).filter(isSlow),
    ).map(({ length }) => length);
    // Until its last one has started.
    expect(Math.min(...slow.slice(0, 6))).toBeGreaterThan(10);
    expect(Math.max(...slow)).toBeLessThan(30);
  });
});
