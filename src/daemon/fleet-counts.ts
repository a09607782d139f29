import type { EpochMs } from '../base/time.ts';
import type { FleetCount } from '../observability/shared-state-gauges.ts';
import type { FleetService } from '../orchestrator/ports/fleet-service.ts';
import type { FleetCollector, FleetInventory } from '../rollout/model/collector.ts';

/**
 * Counts, of each inventory that is read, how many collectors run which build, for the metrics. It is empty until the
 * first one. @param onRead called when a whole inventory was read
 */
export function makeFleetCounts(onRead: (at: EpochMs) => void) {
  let counts: readonly FleetCount[] = [];
  const learn = ({ collectors, readAt }: FleetInventory): void => {
    counts = count(collectors);
    onRead(readAt);
  };
  return {
    watch: (fleet: FleetService): FleetService => ({
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
    read: (): readonly FleetCount[] => counts,
  };
}

/** Runs in one turn of the event loop, so it creates no string for each collector. */
function count(collectors: readonly FleetCollector[]): readonly FleetCount[] {
  const builds = new Map<string, { alive: number; silent: number }>();
  for (const { build, alive } of collectors) {
    const counts = builds.get(build) ?? { alive: 0, silent: 0 };
    builds.set(build, counts);
    counts[alive ? 'alive' : 'silent'] += 1;
  }
  return [...builds]
    .flatMap(([build, { alive, silent }]) => {
      const version = build === '' ? 'unknown' : build;
      return [
        { version, alive: true, collectors: alive },
        { version, alive: false, collectors: silent },
      ];
    })
    .filter((each) => each.collectors > 0);
}
