import { z } from 'zod';
import { noBody, type Operation } from '../contract/operation.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type JsonObject = { readonly [name: string]: Json };

export interface OpenApiParts {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** The prefix of all paths: `/api/v1`. */
  readonly serverUrl: string;
  /** The variables in braces in `serverUrl`. */
  readonly serverVariables?: Readonly<
    Record<string, { readonly default: string; readonly description: string }>
  >;
  readonly operations: readonly Operation[];
  /** The body of every error. */
  readonly errorBody: z.ZodType;
  /** The HTTP status of each error code. Other codes are shown as `4XX`. */
  readonly errorStatuses: Readonly<Record<string, number>>;
  /** Responses that any operation may give in addition to its own. */
  readonly generalAnswers?: readonly GeneralAnswer[];
  /** An exchange of each operation, by its name. Mock servers answer with it. */
  readonly examples?: Readonly<Record<string, ExampleExchange>>;
  readonly signIn: 'bearer' | 'basic' | 'none';
}

export interface GeneralAnswer {
  readonly status: number;
  readonly description: string;
  /** Response headers with their meanings. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: all operations. */
  readonly appliesTo?: (operation: Operation) => boolean;
}

/** Values on the wire, as an operation takes and gives them. What it does not have is left out. */
export interface ExampleExchange {
  /** Of the path and of the query. */
  readonly parameters?: JsonObject;
  readonly body?: Json;
  readonly answer?: Json;
}

/** Describes a contract as an OpenAPI 3.1 document. */
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
  const example = around.examples?.[operation.name] ?? {};
  return {
    operationId: operation.name,
    ...(operation.summary !== undefined && { summary: operation.summary }),
    description: operation.source,
    // Other methods imply it.
    ...(operation.method === 'POST' && { 'x-idempotent': operation.idempotent }),
    parameters: [
      ...parameters(operation.params, 'path', around, example),
      ...parameters(operation.query, 'query', around, example),
      ...(operation.requiresETag ? [ifMatch] : []),
    ],
    ...(operation.body !== null && {
      requestBody: {
        required: !isOptional(operation.body),
        content: jsonContent(around.hoist(operation.body, 'input'), example.body),
      },
    }),
    responses: {
      // The wire format, before this client's own parsing.
      [String(operation.answer.status)]: {
        description: 'Done.',
        ...(showsETag(operation, around) && { headers: responseHeaders({ ETag: eTagMeaning }) }),
        ...(operation.answer.body !== noBody && {
          content: jsonContent(around.hoist(operation.answer.body, 'input'), example.answer),
        }),
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

/** A GET shows the ETag of a resource that is updated with `If-Match`. */
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

function parameters(
  schema: z.ZodType,
  place: 'path' | 'query',
  around: Surroundings,
  { parameters: examples = {} }: ExampleExchange,
): Json[] {
  // The output types: a reader wants to see an integer, not the text on the wire.
  const { properties } = around.hoist(schema, 'output');
  const shape = schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
  return Object.entries((properties ?? {}) as JsonObject).map(([name, property]) => {
    const part = shape[name];
    return {
      name,
      in: place,
      required: place === 'path' || (part !== undefined && !isOptional(part)),
      schema: property,
      ...(examples[name] !== undefined && { example: examples[name] }),
    };
  });
}

function isOptional(schema: z.ZodType): boolean {
  return schema.safeParse(undefined).success;
}

function jsonContent(schema: JsonObject, example?: Json): JsonObject {
  const examples = example === undefined ? {} : { examples: { usual: { value: example } } };
  return { 'application/json': { schema, ...examples } };
}

/** Converts a schema to JSON Schema. Schemas with an id move to the document's components. */
function toSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, Json>): JsonObject {
  const generated = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // `readonly` of the type system. In OpenAPI it would mean something else.
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
