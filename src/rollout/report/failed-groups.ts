import {
  type Attribute,
  type AttributeTable,
  formatAttributes,
  membersWith,
  type Outcomes,
} from '../model/attributes.ts';
import { findSharedAttribute } from '../status/shared-attribute.ts';
import type { GroupRecord } from './build-record.ts';

// More faults at a time are rare, and each search takes as long as the first.
const foundMax = 3;
// More groups make a record large, and those with few failures show little.
const groupsRecordedMax = 10;

/**
 * What the build did to groups of collectors with the same attributes: those that explain failures, those that were held, and
 * those that failed in earlier rollouts, whose risk falls as they succeed.
 * @param known such groups, held or of earlier rollouts
 */
export function recordGroups(
  table: AttributeTable,
  outcomes: Outcomes,
  known: ReadonlyArray<readonly Attribute[]>,
): readonly GroupRecord[] {
  const groups = new Map(known.map((attributes) => [formatAttributes(attributes), attributes]));
  let rest = outcomes;
  for (let found = 0; found < foundMax; found += 1) {
    const shared = findSharedAttribute(table, rest, { of: foundMax, shown: 'running' });
    if (shared === undefined) break;
    groups.set(formatAttributes(shared.attributes), shared.attributes);
    rest = without(rest, new Set(membersWith(table, shared.attributes)));
  }
  return [...groups.values()]
    .map((attributes) => {
      const members = membersWith(table, attributes);
      const failed = members.filter((id) => outcomes.failed.has(id)).length;
      const succeeded = members.filter((id) => outcomes.succeeded.has(id)).length;
      return { attributes, tried: failed + succeeded, failed };
    })
    .filter(({ tried }) => tried > 0)
    .sort((a, b) => b.failed - a.failed || b.tried - a.tried)
    .slice(0, groupsRecordedMax);
}

function without({ failed, succeeded }: Outcomes, ids: ReadonlySet<number>): Outcomes {
  const others = (of: ReadonlySet<number>) => new Set([...of].filter((id) => !ids.has(id)));
  return { failed: others(failed), succeeded: others(succeeded) };
}
