import { z } from 'zod';
import { needsOperator } from '../../../src/admin-api/access/access.ts';
import { adminFaultStatuses } from '../../../src/admin-api/access/admin-fault.ts';
import { AdminErrorBody, adminApi, adminApiPath } from '../../../src/contract/admin/api.ts';
import type { Operation } from '../../../src/contract/operation.ts';
import { makeOpenApiDocument } from '../../../src/http/openapi.ts';
import { exampleBodies, exampleQueries } from './http-examples.ts';
import { SchemaNode } from './schema-node.ts';

const Content = z.object({ content: z.object({ 'application/json': z.object({ schema: SchemaNode }) }) });
const Described = z.object({
  parameters: z.array(
    z.object({ name: z.string(), in: z.enum(['path', 'query']), required: z.boolean(), schema: SchemaNode }),
  ),
  requestBody: Content.optional(),
  responses: z.record(z.string(), Content),
});
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), Described)),
  components: z.object({ schemas: z.record(z.string(), SchemaNode) }),
});

/** Every operation of the admin API and every object in its answers, in Markdown. */
export function httpReference(): string {
  const { paths, components } = Document.parse(
    makeOpenApiDocument({
      ...{ title: 'upwave', version: '', description: '', serverUrl: adminApiPath, signIn: 'bearer' },
      ...{ operations: adminApi, errorBody: AdminErrorBody, errorStatuses: adminFaultStatuses },
    }),
  );
  const operations = adminApi.map((operation) => {
    const described = paths[operation.path]?.[operation.method.toLowerCase()];
    if (described === undefined) throw new Error(`${operation.name} is not in the document`);
    return operationText(operation, described);
  });
  const objects = Object.entries(components.schemas)
    .toSorted(([one], [other]) => one.localeCompare(other, 'en'))
    .map(([name, node]) => `### \`${name}\`\n\n${objectText(node)}`);
  return [...operations, '## Objects in answers', ...objects].join('\n\n');
}

function operationText(operation: Operation, described: z.infer<typeof Described>): string {
  const { name, summary, method, path, answer, errors } = operation;
  const [body, answered] = [described.requestBody, described.responses[String(answer.status)]].map(
    (part) => part?.content['application/json'].schema,
  );
  const parameters = described.parameters.map(({ name: parameter, in: place, required, schema }) =>
    fieldText(parameter, schema, { required, place }),
  );
  return [
    `### \`${method} ${path}\``,
    `${summary}. For ${needsOperator(operation) ? 'the role `operator`' : 'the roles `viewer` and `operator`'}. In the OpenAPI document: \`${name}\`.`,
    ...(parameters.length === 0 ? [] : [parameters.join('\n')]),
    ...(body === undefined ? [] : ['The body:', objectText(body)]),
    `Answers \`${answer.status}\`${answered?.$ref === undefined ? ':' : ` with ${typeOf(answered)}.`}`,
    ...(answered === undefined || answered.$ref !== undefined ? [] : [objectText(answered)]),
    ...(errors.length === 0 ? [] : [`Errors: ${errors.map(errorText).join(', ')}.`]),
    ['```sh', curlOf(operation), '```'].join('\n'),
  ].join('\n\n');
}

const errorStatuses: Readonly<Record<string, number>> = adminFaultStatuses;

const errorText = (code: string) => `\`${errorStatuses[code]} ${code}\``;

/** Path parameters as variables of the shell, which the guide sets. */
const variables: Readonly<Record<string, string>> = {
  id: '$ROLLOUT',
  policy: '$POLICY',
  collector: '$COLLECTOR',
};

function curlOf({ name, method, path, body }: Operation): string {
  const query = exampleQueries[name] ?? '';
  const url = path.replaceAll(/\{(\w+)\}/g, (_all, parameter: string) => variables[parameter] ?? parameter);
  const signed = `curl -H "Authorization: Bearer $UPWAVE_TOKEN"`;
  const line = `"$UPWAVE_URL${adminApiPath}${url}${query === '' ? '' : `?${query}`}"`;
  if (method === 'GET') return `${signed} ${line}`;
  const example: unknown = Reflect.get(exampleBodies, name);
  // An example that the API rejects must not be printed.
  if (body !== null) body.parse(example);
  return `${signed} ${line} \\\n  -d '${JSON.stringify(example)}'`;
}

/** The fields of an object, or its forms. */
function objectText(node: SchemaNode, indent = ''): string {
  const forms = node.oneOf ?? node.anyOf;
  const about = node.description !== undefined && indent === '' ? `${node.description}\n\n` : '';
  if (forms !== undefined) {
    const texts = forms.map((form) => {
      const fields = form.properties === undefined ? '' : `\n${fieldsText(form, `${indent}  `)}`;
      return `${indent}- ${form.description ?? labelOf(form, forms)}${fields}`;
    });
    return about + texts.join('\n');
  }
  return about + (node.properties === undefined ? `${indent}${typeOf(node)}` : fieldsText(node, indent));
}

/** What distinguishes one form of an object from the others. */
function labelOf(form: SchemaNode, forms: readonly SchemaNode[]): string {
  const [kind] = Object.entries(form.properties ?? {}).filter(([, { const: value }]) => value !== undefined);
  if (kind !== undefined) return `\`${kind[0]}\` is \`${String(kind[1].const)}\`:`;
  const own = form.required.filter((key) =>
    forms.every((other) => other === form || !other.required.includes(key)),
  );
  return `With ${own.map((key) => `\`${key}\``).join(', ')}:`;
}

function fieldsText(node: SchemaNode, indent: string): string {
  return Object.entries(node.properties ?? {})
    .map(([name, field]) => fieldText(name, field, { required: node.required.includes(name), indent }))
    .join('\n');
}

function fieldText(
  name: string,
  node: SchemaNode,
  { required, place, indent = '' }: { required: boolean; place?: 'path' | 'query'; indent?: string },
): string {
  const facts = [
    ...(place === undefined ? [] : [place]),
    typeOf(node),
    ...(required ? [] : ['optional']),
    ...(node.default === undefined ? [] : [`default \`${JSON.stringify(node.default)}\``]),
  ];
  const about = node.description === undefined ? '' : `: ${node.description}`;
  const inner = innerObjectOf(node);
  const fields = inner === undefined ? '' : `\n${fieldsText(inner, `${indent}  `)}`;
  return `${indent}- \`${name}\` (${facts.join('; ')})${about}${fields}`;
}

/** The object whose fields are listed below this one: its own, or that of its list. */
function innerObjectOf(node: SchemaNode): SchemaNode | undefined {
  const forms = [...(node.anyOf ?? [node])].map((form) => form.items ?? form);
  return forms.find(({ properties }) => properties !== undefined);
}

function typeOf(node: SchemaNode): string {
  if (node.$ref !== undefined) {
    const name = node.$ref.slice(node.$ref.lastIndexOf('/') + 1);
    return `[\`${name}\`](#${name.toLowerCase()})`;
  }
  if (node.const !== undefined)
    return `\`${typeof node.const === 'string' ? node.const : JSON.stringify(node.const)}\``;
  if (node.enum !== undefined) return node.enum.map((value) => `\`${String(value)}\``).join(', ');
  const forms = node.anyOf ?? node.oneOf;
  if (forms !== undefined) return [...new Set(forms.map(typeOf))].join(' or ');
  return [node.type ?? 'any']
    .flat()
    .map((type) => typeNamed(type, node))
    .join(' or ');
}

function typeNamed(type: string, node: SchemaNode): string {
  switch (type) {
    case 'integer':
    case 'number':
      return numberText(node);
    case 'boolean':
      return '`true` or `false`';
    case 'array':
      return `list of ${node.items === undefined ? 'any' : typeOf(node.items)}`;
    case 'object':
      return typeof node.additionalProperties === 'object'
        ? `map of ${typeOf(node.additionalProperties)}`
        : 'object';
    case 'string':
      return textText(node);
    default:
      return type;
  }
}

function numberText({ minimum, maximum }: SchemaNode): string {
  if (minimum !== undefined && maximum !== undefined) return `number from ${minimum} to ${maximum}`;
  return minimum === undefined ? 'number' : `number, at least ${minimum}`;
}

function textText({ minLength = 0, maxLength, pattern }: SchemaNode): string {
  if (pattern !== undefined) return `text like \`${pattern}\``;
  return maxLength === undefined ? 'text' : `text of ${minLength} to ${maxLength} characters`;
}
