import type { PlantedBug } from './planted-bugs.ts';
import { runNight } from './run-night.ts';
import { changeSetup, drawSetup, type SetupChanges } from './setup.ts';
import { addNight, noTotals, type Totals } from './totals.ts';

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
    addNight(
      totals,
      await runNight(changeSetup(drawSetup(seed), changes), { plant, stopsEarly: plant !== null }),
    );
    if (untilFound && totals.violations.length > 0) break;
  }
  return totals;
}
