import type { PlantedBug } from './planted-bugs.ts';
import { runNight } from './run-night.ts';
import { changeSetup, drawSetup, type SetupChanges } from './setup.ts';
import { addTotals, noTotals, type Totals, totalsOf } from './totals.ts';

/** Which nights to play. */
export interface Seeds {
  readonly from: number;
  readonly count: number;
  readonly plant: PlantedBug | null;
  readonly changes: SetupChanges;
  /** Ends with the first night that has a violation. */
  readonly untilFound: boolean;
}

export async function playSeeds({ from, count, plant, changes, untilFound }: Seeds): Promise<Totals> {
  const totals = noTotals();
  for (let seed = from; seed < from + count; seed += 1) {
    const setup = changeSetup(drawSetup(seed), changes);
    addTotals(totals, totalsOf(await runNight(setup, { plant, stopsEarly: plant !== null })));
    if (untilFound && totals.violations.length > 0) break;
  }
  return totals;
}
