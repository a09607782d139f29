import type { PlantedBug } from './planted-bugs.ts';
import { runNight } from './run-night.ts';
import { changeSetup, drawSetup, type SetupChanges } from './setup.ts';
import { openRedisForNights } from './store/open-redis.ts';
import { addTotals, noTotals, type Totals, totalsOf } from './totals.ts';

/** Which nights to play. */
export interface Seeds {
  readonly from: number;
  readonly count: number;
  readonly plant: PlantedBug | null;
  readonly changes: SetupChanges;
  /** Ends with the first night that has a violation. */
  readonly untilFound: boolean;
  /** Plays on the scripts of this Redis. Default: on the model of the store in memory. */
  readonly redisUrl?: string | undefined;
}

export async function playSeeds(seeds: Seeds): Promise<Totals> {
  const { from, count, plant, changes, untilFound, redisUrl } = seeds;
  const totals = noTotals();
  const redis = redisUrl === undefined ? undefined : openRedisForNights(redisUrl);
  for (let seed = from; seed < from + count; seed += 1) {
    const setup = changeSetup(drawSetup(seed), changes);
    const how = { plant, stopsEarly: plant !== null, redis: redis?.ofNight(seed) };
    addTotals(totals, totalsOf(await runNight(setup, how)));
    if (untilFound && totals.violations.length > 0) break;
  }
  await redis?.close();
  return totals;
}
