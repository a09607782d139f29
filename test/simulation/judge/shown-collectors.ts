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
  const last = { ours: new Map<number, Shown>(), other: new Map<number, Shown>() };
  return {
    note: (account, collectorId, shown) => {
      last[account].set(collectorId, shown);
    },
    lastOn: (account, collectorId, build) => {
      const shown = last[account].get(collectorId);
      return shown !== undefined && isSameBuild(shown.build, build) ? shown.at : undefined;
    },
  };
}
