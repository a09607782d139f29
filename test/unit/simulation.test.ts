import { describe, expect, it } from 'vitest';
import { minimise } from '../simulation/minimise.ts';
import { changesToFind, plantedBugs, unneeded, whereFound } from '../simulation/planted-bugs.ts';
import { playSeeds } from '../simulation/play-seeds.ts';
import { runNight } from '../simulation/run-night.ts';
import { drawSetup, faultKinds } from '../simulation/setup.ts';
import { addTotals, noTotals } from '../simulation/totals.ts';

const seeds = { changes: {}, plant: null, untilFound: false };

// The cheapest nights that bring every fault, and each promise a hundred times; `npm run simulate` plays thousands.
const changes = { without: unneeded.filter((kind) => kind !== 'reload') };
const nights = [
  { from: 119, count: 40, changes },
  { from: 102, count: 2, changes },
  { from: 305, count: 1, changes },
  { from: 856, count: 1, changes },
  { from: 9, count: 1, changes },
  // Steered, with clocks that are wrong, and policies that are renamed and removed.
  { from: 2457, count: 1 },
  { from: 1535, count: 1 },
];

// A planted bug that is not found in so many nights is not found.
const nightsMax = 60;

describe('the whole engine in simulated nights, judged by the service', () => {
  it('keeps the promises, whatever goes wrong and whatever people say', async () => {
    const totals = noTotals();
    for (const some of nights) addTotals(totals, await playSeeds({ ...seeds, ...some }));

    expect(totals.violations).toEqual([]);
    for (const promise of 'P1 P2 P3 P4 P5 P6 P7 P9 P10 P11 P14 P15 words'.split(' '))
      expect(totals.checks[promise], promise).toBeGreaterThan(100);
    for (const kind of faultKinds) expect(totals.faults[kind], kind).toBeGreaterThan(0);
    expect(totals.rollouts).toBeGreaterThan(50);
  });

  it('is the same night again for the same seed', async () => {
    const lines = async () => {
      const reported: string[] = [];
      await runNight(drawSetup(138), { trace: (at, who, words) => reported.push(`${at} ${who} ${words}`) });
      return reported;
    };
    const first = await lines();

    expect(first.length).toBeGreaterThan(100);
    expect(await lines()).toEqual(first);
  });

  it('shrinks a night that breaks a promise to a small one that breaks the same', async () => {
    const found = await minimise(27, changesToFind('capIgnored'), 'capIgnored');

    expect(found?.violation.promise).toBe('P2');
    expect(found?.setup.collectors).toBeLessThan(6);
    expect(found?.setup.daemons).toBe(1);
  });

  it.each(plantedBugs)('finds the planted bug %s', async (plant) => {
    const { firstSeed: from, foundBy } = whereFound[plant];
    const found = { from, count: nightsMax, changes: changesToFind(plant), plant, untilFound: true };
    const totals = await playSeeds({ ...seeds, ...found });

    expect(totals.violations).toHaveLength(1);
    if (foundBy !== undefined) expect(totals.violations[0]?.promise).toBe(foundBy);
  });
});
