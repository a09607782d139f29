import { z } from 'zod';

/**
 * One operation of an HTTP API as data: enough to build a client call, a server route and a document from it.
 * `path` is relative to the API's version root and names its segments in braces: `/collectors/{id}`.
 */
export interface Operation<
  Params = unknown,
  Query = unknown,
  Body = unknown,
  Answer = unknown,
  Name extends string = string,
  /** The answer's body as it stands on the wire, before it is parsed: what a server sends. */
  WireAnswer = unknown,
> {
  readonly name: Name;
  /** One line for lists of operations. */
  readonly summary?: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Path segments as they arrive: texts. */
  readonly params: z.ZodType<Params>;
  /** Query parameters as they arrive: texts, absent ones left out. */
  readonly query: z.ZodType<Query>;
  /** null: the operation takes no body. */
  readonly body: z.ZodType<Body> | null;
  readonly answer: {
    readonly status: 200 | 201 | 202;
    readonly body: z.ZodType<Answer, WireAnswer>;
    /** Where a client reads the body's list row by row: its member, and what a row is. `body` is then not asked. */
    readonly list?: { readonly key: string; readonly row: z.ZodType };
    /** How large a body may be for a client that takes no more than a mebibyte of others. */
    readonly bytesMax?: number;
  };
  /** Codes this operation may answer beside the general ones. */
  readonly errors: readonly string[];
  /** True when the request must name, as `If-Match`, the `ETag` of a previous GET (collector-api.md §4.4). */
  readonly requiresETag: boolean;
  /** True when sending it twice has the effect of sending it once. */
  readonly idempotent: boolean;
  /** Where the rule stands, e.g. `collector-api.md §4.3`. */
  readonly source: string;
}

/** What a caller passes: everything the operation's schemas name. */
export interface OperationInput<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
}

const none = z.object({});

/** An operation as it is written. `idempotent` left out: unless it is a POST. */
type Draft<Full extends Operation> = Pick<Full, 'name' | 'method' | 'path' | 'answer' | 'source'> &
  Partial<Full>;

/** Completes an operation: parts left out take nothing. */
export function defineOperation<
  Params = Record<string, never>,
  Query = Record<string, never>,
  Body = undefined,
  Answer = unknown,
  const Name extends string = string,
  WireAnswer = unknown,
>(
  draft: Draft<Operation<Params, Query, Body, Answer, Name, WireAnswer>>,
): Operation<Params, Query, Body, Answer, Name, WireAnswer> {
  return {
    ...draft,
    params: draft.params ?? (none as unknown as z.ZodType<Params>),
    query: draft.query ?? (none as unknown as z.ZodType<Query>),
    body: draft.body ?? null,
    errors: draft.errors ?? [],
    requiresETag: draft.requiresETag ?? false,
    idempotent: draft.idempotent ?? draft.method !== 'POST',
  };
}

/** A whole number given in a path or a query: arrives as text, used as a number. */
export function integerText(bounds: { min?: number; max?: number } = {}) {
  return z
    .union([z.number(), z.string().regex(/^-?\d{1,19}$/)])
    .transform(Number)
    .pipe(
      z
        .number()
        .int()
        .min(bounds.min ?? Number.MIN_SAFE_INTEGER)
        .max(bounds.max ?? Number.MAX_SAFE_INTEGER),
    );
}

/** A query parameter whose empty text, `filter=`, says as much as its absence: generated clients send it so. */
export function absentWhenEmpty<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === '' ? undefined : value), schema);
}

/** The query parameters of a list. */
export function pageQuery(limitDefault: number) {
  return {
    limit: absentWhenEmpty(integerText({ min: 1 }).default(limitDefault)),
    offset: absentWhenEmpty(integerText({ min: 0 }).default(0)),
  };
}

/** A page of a list. */
export interface ListPage<Row> {
  /** In the order of the service. null: a row that can't be used, since it has no id or is no object at all. */
  readonly rows: ReadonlyArray<Row | null>;
  /** About how many bytes the rows need in memory. */
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
