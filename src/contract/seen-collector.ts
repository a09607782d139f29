import { z } from 'zod';
import { Collector } from './collector.ts';
import { getCollector, getCollectorByName, listCollectors } from './collector-operations.ts';
import { listUpgradableCollectors } from './upgrade-operations.ts';

/**
 * A collector for who looks and writes nothing back: a value of another type than the specification's (collector-api.md
 * §2.1) is as good as none, so that one odd collector makes no page of a thousand unreadable (P13). Without a readable id
 * it is null, without a readable name empty.
 */
export const SeenCollector = z.preprocess(
  withoutOddValues,
  Collector.extend({ id: Collector.shape.id.nullable().catch(null), name: Collector.shape.name.catch('') }),
);
export type SeenCollector = z.infer<typeof SeenCollector>;

const one = { status: 200, body: z.looseObject({ collector: SeenCollector }) } as const;
const many = { status: 200, body: z.looseObject({ collectors: z.array(SeenCollector) }) } as const;

/** The operations that show collectors, for who looks. */
export const seeCollector = { ...getCollector, answer: one };
export const seeCollectorByName = { ...getCollectorByName, answer: one };
export const seeCollectors = { ...listCollectors, answer: many };
export const seeUpgradableCollectors = { ...listUpgradableCollectors, answer: many };

const schemas: Readonly<Record<string, z.ZodType>> = Collector.shape;

/** What is no object has nothing to show. */
function withoutOddValues(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return {};
  return Object.fromEntries(
    Object.entries(row).filter(([name, value]) => {
      const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
      return schema === undefined || schema.safeParse(value).success;
    }),
  );
}
