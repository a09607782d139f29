import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterGoodReading,
  assessInventory,
  fewOf,
  type InventoryBaseline,
  type InventoryCount,
  isMuchShorter,
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

describe('a reading of the inventory', () => {
  it('is not when more than a few members are missing at once, whatever else it lists', () => {
    expect(assessInventory(lacking(4, { rows: 500, size: 500 }), baseline)).toEqual({
      kind: 'implausible',
      why: { kind: 'manyGone', missing: 4, members: 120 },
    });
  });

  it('is not when it is empty while collectors are expected', () => {
    expect(assessInventory(lacking(120), baseline)).toEqual({
      kind: 'implausible',
      why: { kind: 'empty', expected: 120 },
    });
    const one = { rows: 0, size: 0, members: 1, missing: 1, missingUnexplained: 1 };
    expect(assessInventory(lacking(0, one), { at: t, size: 1, missing: 0 }).kind).toBe('implausible');
  });

  it('is not when it is empty while all members come and go by themselves: not all of them at once', () => {
    const none = { rows: 0, size: 0, members: 0, missing: 0, missingUnexplained: 0, transient: 40 };
    expect(assessInventory(lacking(0, none), { at: t, size: 0, missing: 0 })).toEqual({
      kind: 'implausible',
      why: { kind: 'empty', expected: 40 },
    });
    expect(assessInventory(lacking(0, { ...none, transient: 0 }), undefined).kind).toBe('plausible');
  });

  it('is not when it is much shorter than the last good one, though no member is missing', () => {
    const others = { members: 5, missing: 0, missingUnexplained: 0 };
    expect(assessInventory(lacking(12, others), baseline).kind).toBe('plausible');
    expect(assessInventory(lacking(13, others), baseline)).toEqual({
      kind: 'implausible',
      why: { kind: 'short', size: 107, before: 120 },
    });
  });

  it('does not count again those that were gone at the last good one', () => {
    const after = { at: t, size: 60, missing: 60 };
    expect(assessInventory(lacking(61), after).kind).toBe('plausible');
    expect(assessInventory(lacking(64), after).kind).toBe('implausible');
  });

  it('of a rollout of an earlier version takes what was withdrawn for gone', () => {
    expect(assessInventory(lacking(40, { missingUnexplained: 2 }), undefined).kind).toBe('plausible');
    expect(assessInventory(lacking(40, { missingUnexplained: 30 }), undefined).kind).toBe('implausible');
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
        let known: InventoryBaseline | undefined = baseline;
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

  it('is plausible exactly when it is not empty, and lacks no more than a few members and much of the fleet', () => {
    const count = fc.integer({ min: 0, max: 2_000 });
    fc.assert(
      fc.property(count, count, count, count, (members, absent, size, before) => {
        const missing = Math.min(members, absent);
        const seen = {
          readAt: t,
          rows: size,
          size,
          members,
          missing,
          missingUnexplained: missing,
          transient: 0,
        };
        const verdict = assessInventory(seen, { at: t, size: before, missing: 0 });
        const isWell =
          (size > 0 || members + before === 0) && missing <= fewOf(members) && !isMuchShorter(size, before);
        expect(verdict.kind === 'plausible').toBe(isWell);
      }),
    );
  });
});

describe('the baseline after a good reading', () => {
  it('stays for a quarter of an hour, then takes what is missing for gone', () => {
    expect(afterGoodReading(baseline, lacking(2, { readAt: t + 14 * minutes }))).toBe(baseline);
    expect(afterGoodReading(baseline, lacking(2, { readAt: t + 15 * minutes }))).toEqual({
      at: t + 15 * minutes,
      size: 118,
      missing: 2,
    });
  });

  it('is tightened at once when collectors are back, or new', () => {
    const loose = { at: t, size: 100, missing: 20 };
    expect(afterGoodReading(loose, lacking(5, { readAt: t + minutes }))).toEqual({
      at: t,
      size: 115,
      missing: 5,
    });
  });

  it('is the same one while nothing changes, so that nothing is written', () => {
    expect(afterGoodReading(baseline, lacking(0, { readAt: t + 60 * minutes }))).toBe(baseline);
  });
});
