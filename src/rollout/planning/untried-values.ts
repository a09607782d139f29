import { eachInSteps, type Steps } from '../../base/steps.ts';
import { type Attribute, membersWith, tabulateAttributes } from '../model/attributes.ts';
import type { FleetCollector } from '../model/collector.ts';

/** Attribute values, and groups that failed in earlier rollouts, which no wave has tried yet. */
export interface UntriedValues {
  /** Some of these groups have not been tried. */
  hasGroups(): boolean;
  /** How many such groups a collector belongs to that no wave has tried. */
  groupsOf(collector: FleetCollector): number;
  /** How many untried values a collector has. */
  countOf(collector: FleetCollector): number;
  /** Marks the values of a collector that enters a wave as tried. */
  note(collector: FleetCollector): void;
  /** All values have been tried. */
  isDone(): boolean;
}

// Rarer values would get into few waves in any case.
const shareMin = 0.002;
const sharedMin = 3;

/**
 * Collects the attribute values of a plan's collectors, all untried.
 * @param groups those that failed in earlier rollouts, however rare they are
 */
export function* makeUntriedValues(
  collectors: readonly FleetCollector[],
  groups: ReadonlyArray<readonly Attribute[]> = [],
): Steps<UntriedValues> {
  const table = yield* tabulateAttributes(collectors);
  const { ids, columns } = table;
  const openGroups = new Set(
    groups.map((attributes) => new Set(membersWith(table, attributes))).filter((members) => members.size > 0),
  );
  const rows = new Map<number, number>();
  yield* eachInSteps(ids, (id, row) => void rows.set(id, row));
  const least = Math.max(sharedMin, shareMin * ids.length);
  let left = 0;
  const untried = columns.map(({ values, cells }) => {
    const counts = values.map(() => 0);
    for (const cell of cells) if (cell >= 0) counts[cell] = (counts[cell] ?? 0) + 1;
    const isNew = counts.map((count) => count >= least);
    left += isNew.filter((each) => each).length;
    return { cells, isNew };
  });
  const rowOf = ({ id }: FleetCollector) => rows.get(id) ?? -1;
  return {
    hasGroups: () => openGroups.size > 0,
    groupsOf: ({ id }) => [...openGroups].filter((members) => members.has(id)).length,
    countOf: (collector) => {
      const row = rowOf(collector);
      let count = 0;
      for (const { cells, isNew } of untried) if (isNew[cells[row] ?? -1] === true) count += 1;
      return count;
    },
    note: (collector) => {
      for (const members of openGroups) if (members.has(collector.id)) openGroups.delete(members);
      const row = rowOf(collector);
      for (const { cells, isNew } of untried) {
        const cell = cells[row] ?? -1;
        if (isNew[cell] !== true) continue;
        isNew[cell] = false;
        left -= 1;
      }
    },
    isDone: () => left === 0,
  };
}
