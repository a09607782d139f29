import { describe, expect, it } from 'vitest';
import { minimise } from '../simulation/minimise.ts';
import { type PlantedBug, plantedBugs } from '../simulation/planted-bugs.ts';
import { playSeeds } from '../simulation/play-seeds.ts';
import { runNight } from '../simulation/run-night.ts';
import { drawSetup, faultKinds } from '../simulation/setup.ts';
import { addTotals, noTotals } from '../simulation/totals.ts';

const seeds = { changes: {}, plant: null, untilFound: false };

// The cheapest nights that bring every fault, and each promise a hundred times; `npm run simulate` plays thousands.
const nights = [
  { from: 119, count: 40 },
  { from: 102, count: 2 },
  { from: 305, count: 1 },
  { from: 856, count: 1 },
  { from: 9, count: 1 },
];

// A night that finds it, among the cheapest: the test need not search again.
const firstSeeds: Readonly<Record<PlantedBug, number>> = {
  slotLeak: 1,
  blindSecondCreate: 3,
  gateOffByOne: 18,
  pauseNotFinal: 258,
  capIgnored: 27,
  windowIgnored: 2,
  heldCollectorStarted: 146,
  driftApproved: 16,
  soakSkipped: 2,
  isolationForgotten: 45,
  gateUnasked: 7,
  targetMoved: 1,
  toldNotSeen: 1,
  rowEndsUpgrade: 1,
  lostUpgradeNotWaitedFor: 4045,
  anyRowOffers: 156,
  storeTrustedBlindly: 124,
  deferredGivenUp: 26,
  evidenceHoldStays: 2489,
  accountIgnored: 36,
  refusalBelieved: 80,
  olderConfigScans: 200,
  joinerByOwnConfig: 17,
  dateBelieved: 118,
  missingTakenForWell: 100,
  anyListBelieved: 14,
  notFoundBelieved: 25,
  rollbackNotPolled: 105,
  olderBrakesReturn: 5,
  turnKept: 139,
  anyApprovalTaken: 7,
  rollbackAtOnce: 19,
  silenceUnnoticed: 14,
  failedSearchPasses: 9,
  groupForgotten: 125,
};

// The others are found sooner where no config is read anew.
const foundByReloads: readonly PlantedBug[] = ['olderBrakesReturn', 'turnKept'];

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
      const told: string[] = [];
      await runNight(drawSetup(138), { trace: (at, who, words) => told.push(`${at} ${who} ${words}`) });
      return told;
    };
    const first = await lines();

    expect(first.length).toBeGreaterThan(100);
    expect(await lines()).toEqual(first);
  });

  it('shrinks a night that breaks a promise to a small one that breaks the same', async () => {
    const found = await minimise(27, { without: ['reload'] }, 'capIgnored');

    expect(found?.violation.promise).toBe('P2');
    expect(found?.setup.collectors).toBeLessThan(6);
    expect(found?.setup.daemons).toBe(1);
  });

  it.each(plantedBugs)('finds the planted bug %s', async (plant) => {
    const from = firstSeeds[plant];
    const changes = foundByReloads.includes(plant) ? {} : { without: ['reload' as const] };
    const totals = await playSeeds({ ...seeds, from, count: nightsMax, changes, plant, untilFound: true });

    expect(totals.violations).toHaveLength(1);
  });
});
