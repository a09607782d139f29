import { z } from 'zod';

/**
 * One operation of an HTTP API as data, from which a client call, a server route and a document are built. `path` is
 * relative to the API's version root, with parameters in braces: `/collectors/{id}`.
 */
export interface Operation<
  Params = unknown,
  Query = unknown,
  Body = unknown,
  Answer = unknown,
  Name extends string = string,
  /** The body of the response on the wire, before it is parsed: what a server sends. */
  WireAnswer = unknown,
> {
  readonly name: Name;
  /** One line for lists of operations. */
  readonly summary?: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Path segments, which arrive as strings. */
  readonly params: z.ZodType<Params>;
  /** Query parameters, which arrive as strings. Absent ones are left out. */
  readonly query: z.ZodType<Query>;
  /** null: the operation takes no body. */
  readonly body: z.ZodType<Body> | null;
  readonly answer: {
    readonly status: 200 | 201 | 202;
    readonly body: z.ZodType<Answer, WireAnswer>;
    /** Set when a client reads the body's list row by row: its member, and the schema of a row. `body` is not used then. */
    readonly list?: { readonly key: string; readonly row: z.ZodType };
    /** The maximum size of the body, when it is larger than the client's default. */
    readonly bytesMax?: number;
  };
  /** Error codes of this operation, in addition to the general ones. */
  readonly errors: readonly string[];
  /** True when the request must name the `ETag` of a previous GET as `If-Match` (collector-api.md §4.4). */
  readonly requiresETag: boolean;
  /** True when sending it twice has the effect of sending it once. */
  readonly idempotent: boolean;
  /** The source of the rule, such as `collector-api.md §4.3`. */
  readonly source: string;
}

/** The parsed input of an operation. */
export interface OperationInput<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
}

const none = z.object({});

/** The response has no body. A client accepts any. */
export const noBody = z.unknown();

/** An operation as it is declared. Default for `idempotent`: true, except for a POST. */
type Draft<Full extends Operation> = Pick<Full, 'name' | 'answer' | 'source'> &
  Partial<Omit<Full, 'method' | 'path'>> & {
    /** Method and path: `GET /collectors/{id}`. */
    readonly route: `${Operation['method']} /${string}`;
  };

/** Completes an operation. Schemas that are left out accept nothing. */
export function defineOperation<
  Params = Record<string, never>,
  Query = Record<string, never>,
  Body = undefined,
  Answer = unknown,
  const Name extends string = string,
  WireAnswer = unknown,
>({
  route,
  ...draft
}: Draft<Operation<Params, Query, Body, Answer, Name, WireAnswer>>): Operation<
  Params,
  Query,
  Body,
  Answer,
  Name,
  WireAnswer
> {
  const [method, path] = route.split(' ', 2) as [Operation['method'], string];
  return {
    ...draft,
    method,
    path,
    params: draft.params ?? (none as unknown as z.ZodType<Params>),
    query: draft.query ?? (none as unknown as z.ZodType<Query>),
    body: draft.body ?? null,
    errors: draft.errors ?? [],
    requiresETag: draft.requiresETag ?? false,
    idempotent: draft.idempotent ?? method !== 'POST',
  };
}

/** An integer in a path or a query: it arrives as a string. */
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

/** A query parameter for which an empty value, `filter=`, counts as absent: generated clients send it. */
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
  /** In the service's order. null: an unusable row, without an id or not an object. */
  readonly rows: ReadonlyArray<Row | null>;
  /** An estimate of how many bytes the rows need in memory. */
  readonly weight: number;
}

/** An operation whose client reads the list row by row: an invalid row costs only that row, and not the page (P13). */
export function readAsList<Params, Query, Row, Name extends string>(
  operation: Operation<Params, Query, undefined, unknown, Name>,
  key: string,
  row: z.ZodType<Row>,
): Operation<Params, Query, undefined, ListPage<Row>, Name> {
  const { status } = operation.answer;
  return { ...operation, answer: { status, body: z.custom<ListPage<Row>>(), list: { key, row } } };
}
