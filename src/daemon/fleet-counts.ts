import type { EpochMs } from '../base/time.ts';
import type { FleetService } from '../orchestrator/ports/fleet-service.ts';
import type { FleetCollector, FleetInventory } from '../rollout/model/collector.ts';

export interface FleetCount {
  readonly version: string;
  readonly alive: boolean;
  readonly collectors: number;
}

/** Remembers, of every inventory that passes by, how many collectors run which build: for the metrics. */
export interface FleetCounts {
  watch(fleet: FleetService): FleetService;
  read(): readonly FleetCount[];
}

/** Makes an empty memory: until the first inventory was read, it has nothing to say. @param onRead when a whole one was read */
export function makeFleetCounts(onRead: (at: EpochMs) => void): FleetCounts {
  let counts: readonly FleetCount[] = [];
  const learn = ({ collectors, readAt }: FleetInventory): void => {
    counts = count(collectors);
    onRead(readAt);
  };
  return {
    watch: (fleet) => ({
      ...fleet,
      readFleet: async (targetBuild, signal) => {
        const answer = await fleet.readFleet(targetBuild, signal);
        if (answer.ok) learn(answer.value);
        return answer;
      },
      readInventory: async (onPage, signal) => {
        const answer = await fleet.readInventory(onPage, signal);
        if (answer.ok) learn(answer.value);
        return answer;
      },
    }),
    read: () => counts,
  };
}

function count(collectors: readonly FleetCollector[]): readonly FleetCount[] {
  const groups = new Map<string, FleetCount>();
  for (const { build, alive } of collectors) {
    const key = `${alive}/${build}`;
    const version = build === '' ? 'unknown' : build;
    groups.set(key, { version, alive, collectors: (groups.get(key)?.collectors ?? 0) + 1 });
  }
  return [...groups.values()];
}
