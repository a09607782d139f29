import { isSameBuild } from '../../../src/base/build-version.ts';
import type { Account } from '../world/process-model.ts';

interface Shown {
  readonly at: number;
  readonly build: string;
}

/** What daemons were shown of collectors that were well, in true time: the only evidence that there can be. */
export interface ShownCollectors {
  note(account: Account, collectorId: number, shown: Shown): void;
  /** When this collector was last shown up and well on this build; undefined when it never was. */
  lastOn(account: Account, collectorId: number, build: string): number | undefined;
}

export function makeShownCollectors(): ShownCollectors {
  // One of each build: a collector that another rollout upgrades after the soak was shown well on the build of the first one.
  const last = { ours: new Map<number, readonly Shown[]>(), other: new Map<number, readonly Shown[]>() };
  return {
    note: (account, collectorId, shown) => {
      const others = last[account].get(collectorId)?.filter(({ build }) => !isSameBuild(build, shown.build));
      last[account].set(collectorId, [...(others ?? []), shown]);
    },
    lastOn: (account, collectorId, build) =>
      last[account].get(collectorId)?.find((shown) => isSameBuild(shown.build, build))?.at,
  };
}
