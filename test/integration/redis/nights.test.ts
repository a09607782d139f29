import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  changesToFind,
  isFoundInMemory,
  plantedBugs,
  unsteered,
  whereFound,
} from '../../simulation/planted-bugs.ts';
import { playSeeds } from '../../simulation/play-seeds.ts';
import { runNight } from '../../simulation/run-night.ts';
import { changeSetup, drawSetup, realStoreFaults } from '../../simulation/setup.ts';
import { openRedisForNights, startRedisForNights } from '../../simulation/store/open-redis.ts';
import { addTotals, noTotals } from '../../simulation/totals.ts';

const seeds = { changes: unsteered, plant: null, untilFound: false };

// Cheap nights that bring every fault of a real store. `npm run simulate -- --store redis` plays more.
const nights = [13058, 9595, 6290];

let redisUrl = '';
let stop = async (): Promise<void> => undefined;
beforeAll(async () => {
  const server = await startRedisForNights();
  redisUrl = server.url;
  stop = server.close;
});
afterAll(() => stop());

describe('the whole engine in simulated nights on the scripts of a real Redis', () => {
  it('keeps the promises, and the scripts answer as the model of the store does', async () => {
    const totals = noTotals();
    for (const from of nights) addTotals(totals, await playSeeds({ ...seeds, from, count: 1, redisUrl }));

    expect(totals.violations).toEqual([]);
    expect(totals.checks['store']).toBeGreaterThan(300);
    for (const kind of [...realStoreFaults, 'storeEmptied', 'storeGoesBack'] as const)
      expect(totals.faults[kind], kind).toBeGreaterThan(0);
  });

  it('is the same night again for the same seed', async () => {
    const redis = openRedisForNights(redisUrl);
    const lines = async () => {
      const reported: string[] = [];
      const trace = (at: number, who: string, words: string) => reported.push(`${at} ${who} ${words}`);
      await runNight(changeSetup(drawSetup(13058), unsteered), { redis: redis.ofNight(13058), trace });
      return reported;
    };
    const first = await lines();

    expect(first.length).toBeGreaterThan(100);
    expect(await lines()).toEqual(first);
    await redis.close();
  });

  it.each(plantedBugs.filter((plant) => !isFoundInMemory(plant)))(
    'finds the planted bug %s',
    async (plant) => {
      const { firstSeed: from } = whereFound[plant];
      const totals = await playSeeds({
        ...seeds,
        from,
        count: 1,
        changes: changesToFind(plant),
        plant,
        redisUrl,
      });

      expect(totals.violations[0]?.promise).toBe('store');
    },
  );
});
