import { type AttributeTable, sharedKeys } from '../model/attributes.ts';
import { type PlanGroups, valueSeparator } from '../model/plan-groups.ts';
import type { CollectorKey } from '../model/policy.ts';
import type { UpgradeIdentity } from '../model/upgrade.ts';

type Planned = Pick<UpgradeIdentity, 'collectorId' | 'fromBuild' | 'stratum'>;

/**
 * Makes the rule that names the stratum of a collector by `spreadBy`, also of one that was moved to a held group since.
 * @param table undefined: unreadable
 * @returns the label; undefined where the plan did not keep a value for it
 */
export function makeFormerStratum(
  { strata }: Pick<PlanGroups, 'strata'>,
  spreadBy: readonly CollectorKey[],
  table: AttributeTable | undefined,
): (collector: Planned) => string | undefined {
  const rows = new Map(table?.ids.map((id, row) => [id, row]));
  const columns = new Map(table?.columns.map((column) => [column.key, column]));
  const textOf = (key: CollectorKey, { collectorId, fromBuild }: Planned): string | undefined => {
    if (key === 'collectorVersion') return fromBuild;
    const column = columns.get(key);
    // A plan has room for each of these keys, so that no collector has a value where the column is missing.
    if (column === undefined) return sharedKeys.some((shared) => shared === key) ? '' : undefined;
    return column.values[column.cells[rows.get(collectorId) ?? -1] ?? -1] ?? '';
  };
  return (collector) => {
    const stratum = strata[collector.stratum];
    if (stratum === undefined || stratum.attributes === undefined) return stratum?.label;
    if (!rows.has(collector.collectorId)) return undefined;
    const values = spreadBy.map((key) => textOf(key, collector));
    if (values.includes(undefined)) return undefined;
    return values.map((value) => value || '(none)').join(valueSeparator);
  };
}

/** Where a collector is in the plan. */
export interface StratumPlace {
  /** The label of its stratum by `spreadBy`; empty: unknown. */
  readonly stratum: string;
  /** The label of the group with which the rollout held it; null: none. */
  readonly group: string | null;
}

/** Makes the rule that names stratum and group of a collector. @param table as for `makeFormerStratum` */
export function makeStratumPlace(
  groups: Pick<PlanGroups, 'strata'>,
  spreadBy: readonly CollectorKey[],
  table: AttributeTable | undefined,
): (collector: Planned) => StratumPlace {
  const formerStratum = makeFormerStratum(groups, spreadBy, table);
  return (collector) => {
    const stratum = groups.strata[collector.stratum];
    return {
      stratum: formerStratum(collector) ?? '',
      group: stratum?.attributes === undefined ? null : stratum.label,
    };
  };
}
