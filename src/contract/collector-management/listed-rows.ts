import { z } from 'zod';
import { readAsList } from '../operation.ts';
import { Collector, listCollectors, listOfflineCollectors } from './collectors.ts';
import { listSources, Source } from './sources.ts';
import { listUpgradableCollectors, listUpgradeTargets, UpgradeTarget } from './upgrades.ts';

/**
 * A collector of a list, for people and scripts: everything that the service sends, including unknown fields. A value of
 * another type than specified (collector-api.md §2.1) counts as absent (P13). Without a readable name the name is empty. A
 * row without a readable id is unusable.
 */
const ListedCollector = z.preprocess(
  withoutInvalidValues(Collector.shape),
  Collector.extend({ name: Collector.shape.name.catch('') }),
);

/** A source of a list, in the same way. */
export type ListedSource = Source & { readonly id: number };
const ListedSource: z.ZodType<ListedSource> = z.preprocess(
  withoutInvalidValues(Source.shape),
  Source.extend({ id: z.number().int() }),
);

export const pageCollectors = readAsList(listCollectors, 'collectors', ListedCollector);
export const pageOfflineCollectors = readAsList(listOfflineCollectors, 'collectors', ListedCollector);
export const pageUpgradableCollectors = readAsList(listUpgradableCollectors, 'collectors', ListedCollector);
export const pageSources = readAsList(listSources, 'sources', ListedSource);
export const pageUpgradeTargets = readAsList(listUpgradeTargets, 'targets', UpgradeTarget);

function withoutInvalidValues(schemas: Readonly<Record<string, z.ZodType>>): (row: unknown) => unknown {
  return (row) => {
    if (typeof row !== 'object' || row === null) return row;
    return Object.fromEntries(
      Object.entries(row).filter(([name, value]) => {
        const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
        return schema === undefined || schema.safeParse(value).success;
      }),
    );
  };
}
