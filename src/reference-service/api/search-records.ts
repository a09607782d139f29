import { z } from 'zod';
import { collectorColumn, countColumn } from '../../contract/collector-management/search-job-bodies.ts';
import { countMessages } from '../fleet/message-flow.ts';
import type { World } from '../fleet/world.ts';

const Instant = z.union([z.number(), z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))]);

/** A request as in the public guide of such a service, with the supported queries. */
const CountRequest = z.object({
  query: z.string().regex(/\|\s*count(?:\s+by\s+_collector)?\s*$/i),
  from: Instant,
  to: Instant,
});

type SearchRecord = Readonly<Record<string, string>>;

/**
 * The records of a search that counts messages, by collector or in total. The scope may name collectors.
 * @returns undefined for any other query
 */
export function searchRecords(world: World, request: unknown): readonly SearchRecord[] | undefined {
  const asked = CountRequest.safeParse(request);
  if (!asked.success) return undefined;
  const { query, from, to } = asked.data;
  const names = namesIn(query);
  const now = world.now();
  const counts = world.collectors().flatMap((collector) => {
    const { name } = collector.facts;
    const count = names === undefined || names.has(name) ? countMessages(collector, { from, to }, now) : 0;
    return count === 0 ? [] : [{ name, count }];
  });
  if (/by\s+_collector\s*$/i.test(query))
    return counts.map(({ name, count }) => ({ [collectorColumn]: name, [countColumn]: String(count) }));
  return [{ [countColumn]: String(counts.reduce((sum, { count }) => sum + count, 0)) }];
}

/** Undefined: all collectors. */
function namesIn(query: string): ReadonlySet<string> | undefined {
  const terms = [...query.matchAll(/_collector="((?:[^"\\]|\\.)*)"/g)];
  if (terms.length === 0) return undefined;
  return new Set(terms.map(([, name = '']) => name.replaceAll(/\\(.)/g, '$1')));
}
