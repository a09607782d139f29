import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterGoodReading,
  assessInventory,
  fewOf,
  type InventoryBaseline,
  type InventoryCount,
} from '../../../../src/rollout/model/assess-inventory.ts';
import { startedAt as t } from '../../../support/builders.ts';

const minutes = 60_000;
const baseline: InventoryBaseline = { at: t, size: 120, missing: 0 };

/** A reading of a fleet of 120, all members of the rollout, which lacks so many. */
function lacking(missing: number, changes: Partial<InventoryCount> = {}): InventoryCount {
  return {
    readAt: t,
    rows: 120 - missing,
    size: 120 - missing,
    members: 120,
    missing,
    missingUnexplained: missing,
    transient: 0,
    ...changes,
  };
}

describe('the judgement of an inventory reading', () => {
  const long = lacking(4, { rows: 500, size: 500 });
  const none = { rows: 0, size: 0, members: 0, missing: 0, missingUnexplained: 0 };
  const transient = (count: number) => lacking(0, { ...none, transient: count });
  const manyGone = { kind: 'manyGone', missing: 4, members: 120 };
  const empty = (expected: number) => ({ kind: 'empty', expected });
  const short = { kind: 'short', size: 107, before: 120 };
  const others = { members: 5, missing: 0, missingUnexplained: 0 };
  const withdrawn = (missingUnexplained: number) => lacking(40, { missingUnexplained });
  const small = (size: number): InventoryBaseline => ({ at: t, size, missing: 0 });
  const half = { at: t, size: 60, missing: 60 };

  it.each<[string, InventoryCount, InventoryBaseline | null, object | null]>([
    ['not when more than a few members are missing, whatever else it lists', long, baseline, manyGone],
    ['not when it is empty while collectors are expected', lacking(120), baseline, empty(120)],
    // Not all of them come and go at once.
    ['not when it is empty though all members are transient', transient(40), small(0), empty(40)],
    ['when it is empty and nobody is expected', transient(0), null, null],
    ['not when it is much shorter than before, members aside', lacking(13, others), baseline, short],
    ['when it lacks those that were gone at the last good one', lacking(61), half, null],
    ['not when it lacks many beside those', lacking(64), half, { kind: 'manyGone' }],
    ['without a baseline, when most of the missing were withdrawn', withdrawn(2), null, null],
    ['not without a baseline when many were not', withdrawn(30), null, { kind: 'manyGone' }],
  ])('is plausible %s', (_when, seen, before, why) => {
    expect(assessInventory(seen, before)).toMatchObject(
      why === null ? { kind: 'plausible' } : { kind: 'implausible', why },
    );
  });

  it('is bounded by a few: at least one, less than all, two of a hundred in a large fleet', () => {
    expect([1, 2, 4, 6, 120, 1_000, 10_000].map(fewOf)).toEqual([1, 1, 2, 3, 3, 20, 200]);
  });

  it('may lack more members the older the last good reading is, up to a tenth: machines are retired over days, too', () => {
    const lackingAfter = (missing: number, hours: number) =>
      assessInventory(lacking(missing, { readAt: t + hours * 60 * minutes }), baseline).kind;
    expect([lackingAfter(3, 5), lackingAfter(4, 5)]).toEqual(['plausible', 'implausible']);
    expect([lackingAfter(6, 6), lackingAfter(7, 6)]).toEqual(['plausible', 'implausible']);
    expect([lackingAfter(12, 24 * 7), lackingAfter(13, 24 * 7)]).toEqual(['plausible', 'implausible']);
    // A small fleet never loses more than at once.
    const six = { rows: 3, size: 3, members: 6, missing: 4, missingUnexplained: 4 };
    const old = { at: t - 7 * 24 * 60 * minutes, size: 6, missing: 0 };
    expect(assessInventory(lacking(0, six), old).kind).toBe('implausible');
  });

  it('never lets more than a few members go between two baselines, however the list shrinks', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 40 }), (steps) => {
        let known: InventoryBaseline = baseline;
        let gone = 0;
        let believed = 0;
        for (const [index, step] of steps.entries()) {
          gone = Math.min(120, gone + step);
          // Every 20 s: all of them within one baseline.
          const seen = lacking(gone, { readAt: t + index * 20_000 });
          if (assessInventory(seen, known).kind === 'implausible') continue;
          believed = gone;
          known = afterGoodReading(known, seen);
        }
        expect(believed).toBeLessThanOrEqual(fewOf(120));
      }),
    );
  });
});

describe('the baseline after a plausible reading', () => {
  it('stays for a quarter of an hour, then accepts missing collectors as gone', () => {
    expect(afterGoodReading(baseline, lacking(2, { readAt: t + 14 * minutes }))).toBe(baseline);
    expect(afterGoodReading(baseline, lacking(2, { readAt: t + 15 * minutes }))).toEqual({
      at: t + 15 * minutes,
      size: 118,
      missing: 2,
    });
  });

  it('is tightened at once when collectors return or join', () => {
    const loose = { at: t, size: 100, missing: 20 };
    expect(afterGoodReading(loose, lacking(5, { readAt: t + minutes }))).toEqual({
      at: t,
      size: 115,
      missing: 5,
    });
  });

  it('is written again once it is an hour old, also while nothing changes: its age shows the last good reading', () => {
    const readAt = t + 60 * minutes + 1;
    expect(afterGoodReading(baseline, lacking(0, { readAt }))).toEqual({ ...baseline, at: readAt });
  });

  it('is another one when only the size of the fleet, or only the missing, have changed', () => {
    const readAt = t + 16 * minutes;
    expect(afterGoodReading(baseline, lacking(0, { readAt, size: 121 }))).toMatchObject({
      at: readAt,
      size: 121,
    });
    expect(afterGoodReading(baseline, lacking(1, { readAt, size: 120 }))).toMatchObject({
      at: readAt,
      missing: 1,
    });
  });

  it('is the same one while nothing changes, so that nothing is written', () => {
    expect(afterGoodReading(baseline, lacking(0, { readAt: t + 60 * minutes }))).toBe(baseline);
  });
});
