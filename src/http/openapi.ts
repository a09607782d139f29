import { z } from 'zod';
import type { Operation } from '../contract/operation.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type JsonObject = { readonly [name: string]: Json };

export interface OpenApiParts {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** What the operations' paths are relative to: `/api/v1`. */
  readonly serverUrl: string;
  /** What stands in braces in `serverUrl`. */
  readonly serverVariables?: Readonly<
    Record<string, { readonly default: string; readonly description: string }>
  >;
  readonly operations: readonly Operation[];
  /** The body of every error. */
  readonly errorBody: z.ZodType;
  /** Which HTTP status an error code of an operation comes with; of the others only `4XX` is known. */
  readonly errorStatuses: Readonly<Record<string, number>>;
  /** What operations answer beside their own codes. */
  readonly generalAnswers?: readonly GeneralAnswer[];
  readonly signIn: 'bearer' | 'basic' | 'none';
}

export interface GeneralAnswer {
  readonly status: number;
  readonly description: string;
  /** Response headers, each with what it says. */
  readonly headers?: Readonly<Record<string, string>>;
  /** All operations where left out. */
  readonly appliesTo?: (operation: Operation) => boolean;
}

/** Describes a contract as an OpenAPI 3.1 document. The contract is the source; nothing is written twice. */
export function makeOpenApiDocument(parts: OpenApiParts): JsonObject {
  const schemas: Record<string, Json> = {};
  const hoist = (schema: z.ZodType, io: 'input' | 'output') => toSchema(schema, io, schemas);
  const errorSchema = hoist(parts.errorBody, 'input');
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of parts.operations) {
    const methods = paths[operation.path] ?? {};
    paths[operation.path] = methods;
    methods[operation.method.toLowerCase()] = describeOperation(operation, { ...parts, hoist, errorSchema });
  }
  return {
    openapi: '3.1.0',
    info: { title: parts.title, version: parts.version, description: parts.description },
    servers: [{ url: parts.serverUrl, ...(parts.serverVariables && { variables: parts.serverVariables }) }],
    ...(parts.signIn !== 'none' && { security: [{ signIn: [] }] }),
    paths,
    components: {
      schemas,
      ...(parts.signIn !== 'none' && { securitySchemes: { signIn: { type: 'http', scheme: parts.signIn } } }),
    },
  };
}

type Surroundings = OpenApiParts & {
  readonly hoist: (schema: z.ZodType, io: 'input' | 'output') => JsonObject;
  readonly errorSchema: JsonObject;
};

function describeOperation(operation: Operation, around: Surroundings): JsonObject {
  return {
    operationId: operation.name,
    ...(operation.summary !== undefined && { summary: operation.summary }),
    description: operation.source,
    // The method says it for all others; for a POST nobody can know.
    ...(operation.method === 'POST' && { 'x-idempotent': operation.idempotent }),
    parameters: [
      ...parameters(operation.params, 'path', around),
      ...parameters(operation.query, 'query', around),
      ...(operation.requiresETag ? [ifMatch] : []),
    ],
    ...(operation.body !== null && {
      requestBody: {
        required: !isOptional(operation.body),
        content: jsonContent(around.hoist(operation.body, 'input')),
      },
    }),
    responses: {
      // As it stands on the wire, before our own reading of it.
      [String(operation.answer.status)]: {
        description: 'Done.',
        ...(showsETag(operation, around) && { headers: responseHeaders({ ETag: eTagMeaning }) }),
        content: jsonContent(around.hoist(operation.answer.body, 'input')),
      },
      ...errorResponses(operation, around),
      default: { description: 'Any other failure.', content: jsonContent(around.errorSchema) },
    },
  };
}

const eTagMeaning = 'Names this state of the resource; an update of it must name it as `If-Match`.';

const ifMatch: Json = {
  name: 'If-Match',
  in: 'header',
  required: true,
  description: 'The ETag of a previous GET of the same resource.',
  schema: { type: 'string' },
};

/** A GET of what is updated with `If-Match` shows the ETag for it. */
function showsETag({ method, path }: Operation, { operations }: Surroundings): boolean {
  return method === 'GET' && operations.some((other) => other.requiresETag && other.path === path);
}

function responseHeaders(meanings: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(meanings).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );
}

function errorResponses(operation: Operation, around: Surroundings): JsonObject {
  const content = jsonContent(around.errorSchema);
  const responses = new Map<string, { description: string; headers?: JsonObject; content: JsonObject }>();
  const add = (status: string, description: string, headers: GeneralAnswer['headers'] = {}): void => {
    const before = responses.get(status);
    const all = { ...before?.headers, ...responseHeaders(headers) };
    responses.set(status, {
      description: before === undefined ? description : `${before.description}, ${description}`,
      ...(Object.keys(all).length > 0 && { headers: all }),
      content,
    });
  };
  for (const { status, description, headers, appliesTo } of around.generalAnswers ?? []) {
    if (appliesTo?.(operation) ?? true) add(String(status), description, headers);
  }
  for (const code of operation.errors) {
    const status = around.errorStatuses[code];
    add(status === undefined ? '4XX' : String(status), `\`${code}\``);
  }
  return Object.fromEntries(responses);
}

function parameters(schema: z.ZodType, place: 'path' | 'query', around: Surroundings): Json[] {
  // What our code gets, not the text on the wire: a reader wants to see an integer.
  const { properties } = around.hoist(schema, 'output');
  const shape = schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
  return Object.entries((properties ?? {}) as JsonObject).map(([name, property]) => {
    const part = shape[name];
    return {
      name,
      in: place,
      required: place === 'path' || (part !== undefined && !isOptional(part)),
      schema: property,
    };
  });
}

function isOptional(schema: z.ZodType): boolean {
  return schema.safeParse(undefined).success;
}

function jsonContent(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}

/** One JSON Schema; those with an id of their own move to the document's components. */
function toSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, Json>): JsonObject {
  const generated = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // `readonly` is our type system's word; in OpenAPI it would mean something else.
      delete jsonSchema.readOnly;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const moved = JSON.parse(
    JSON.stringify(generated).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as Record<string, Json>;
  const { $schema: _dialect, $defs, ...own } = moved;
  Object.assign(schemas, $defs);
  return own;
}
