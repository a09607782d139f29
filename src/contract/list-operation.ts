import { z } from 'zod';
import type { Operation } from './operation.ts';

/** A page of a list. */
export interface ListPage<Row> {
  /** In the order of the service. null: a row that can't be used, since it has no id or is no object at all. */
  readonly rows: ReadonlyArray<Row | null>;
  /** About how many bytes the rows take in memory. */
  readonly weight: number;
}

/** The same operation for a client that reads its list row by row: an odd row costs that row, and not the page (P13). */
export function readAsList<Params, Query, Row, Name extends string>(
  operation: Operation<Params, Query, undefined, unknown, Name>,
  key: string,
  row: z.ZodType<Row>,
): Operation<Params, Query, undefined, ListPage<Row>, Name> {
  const { status } = operation.answer;
  return { ...operation, answer: { status, body: z.custom<ListPage<Row>>(), list: { key, row } } };
}
