import { needsCollectorZone } from './calendar.ts';
import type { FleetCollector } from './collector.ts';
import type { Lane } from './plan-groups.ts';
import type { Policy } from './policy.ts';

/** Numbers lanes in the order in which they are first asked for. */
export interface LaneBook {
  readonly lanes: readonly Lane[];
  /** The lane of a collector of this stratum and these domains; a new one at the end where there was none. */
  laneOf(collector: FleetCollector, stratum: number, domains: readonly number[]): number;
}

/** @param known lanes that keep their numbers */
export function makeLaneBook(
  policy: Pick<Policy, 'windows' | 'freezes' | 'timeZone'>,
  known: readonly Lane[] = [],
): LaneBook {
  const byZone = needsCollectorZone(policy);
  const lanes = [...known];
  const numbers = new Map(lanes.map((lane, index) => [nameOf(lane), index]));
  return {
    lanes,
    laneOf(collector, stratum, domains) {
      const lane = { stratum, timeZone: byZone ? collector.timeZone : '', domains };
      const name = nameOf(lane);
      const number = numbers.get(name);
      if (number !== undefined) return number;
      numbers.set(name, lanes.length);
      return lanes.push(lane) - 1;
    },
  };
}

function nameOf({ stratum, domains, timeZone }: Lane): string {
  return `${stratum}/${domains.join(',')}/${timeZone}`;
}
