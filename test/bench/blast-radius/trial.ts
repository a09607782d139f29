import type { DurationMs } from '../../../src/base/time.ts';
import { drawFleet } from './draw-fleet.ts';
import { type Flavour, flavours, makeFates } from './fates.ts';
import { playRival, type RivalPlay } from './play-rival.ts';
import { playUpwave, type UpwavePlay } from './play-upwave.ts';

export interface TrialBrief {
  readonly seed: number;
  /** Of the fleet that the build breaks. */
  readonly share: number;
  /** How long upwave's leader pauses, in virtual time: the longer, the quicker and the coarser the run. */
  readonly passPauseMs: DurationMs;
}

/** One fleet and one bad build, upgraded by each contestant. */
export interface Trial extends TrialBrief {
  readonly flavour: Flavour;
  readonly strata: number;
  /** Collectors of the broken stratum. */
  readonly brokenSize: number;
  readonly brokenLabel: string;
  readonly upwave: UpwavePlay;
  readonly canaryOnly: RivalPlay;
  readonly watching: RivalPlay;
}

export async function runTrial({ seed, share, passPauseMs }: TrialBrief): Promise<Trial> {
  const fleet = drawFleet(seed, share);
  const flavour = flavours[seed % flavours.length] ?? 'taskFails';
  const fateOf = makeFates(seed, fleet.broken, flavour);
  return {
    seed,
    share,
    passPauseMs,
    flavour,
    strata: fleet.strata,
    brokenSize: fleet.broken.size,
    brokenLabel: fleet.brokenLabel,
    upwave: await playUpwave({ seed, passPauseMs }, fleet, fateOf),
    canaryOnly: playRival(seed, fleet, fateOf, 'canary'),
    watching: playRival(seed, fleet, fateOf, 'always'),
  };
}
