import { configSchemaWithBounds } from '../json-schema.ts';
import { exampleOf } from './config-examples.ts';
import { SchemaNode } from './schema-node.ts';

/** The keys of a group that another group also has, with further ones. Fewer in common are chance. */
const sharedKeysMin = 5;

/** Every key of the config file, in Markdown: a heading for each group of keys, and an entry for each key. */
export function configReference(): string {
  const groups: string[] = [];
  const known = new Map<string, readonly string[]>();
  const addGroup = (path: string, node: SchemaNode): void => {
    const keys = Object.entries(node.properties ?? {});
    const names = keys.map(([key]) => key);
    const [base, baseKeys = []] =
      [...known].find(([, others]) => isExtended(others, names) || others.join() === names.join()) ?? [];
    const own = keys.filter(([key]) => !baseKeys.includes(key));
    const about = node.description === undefined ? [] : [node.description, ''];
    const shared =
      base === undefined
        ? []
        : [
            `The keys are those of \`${base}\`${own.length === 0 ? '' : ', and'}${own.length === 0 ? '.' : ':'}\n`,
          ];
    if (base === undefined) known.set(path, names);
    const entries = own.map(([key, child]) =>
      entryOf(path === '' ? key : `${path}.${key}`, child, node.required.includes(key)),
    );
    groups.push(path === '' ? '## The file\n' : `## \`${path}\`\n`, ...about, ...shared, ...entries, '');
    for (const [key, child] of own) addChildren(path === '' ? key : `${path}.${key}`, child);
  };
  const addChildren = (path: string, child: SchemaNode): void => {
    for (const form of formsOf(child)) {
      if (form.properties !== undefined)
        addGroup(path, { ...form, description: form.description ?? child.description });
      for (const item of form.items === undefined ? [] : formsOf(form.items))
        if (item.properties !== undefined) addGroup(`${path}[]`, item);
      if (typeof form.additionalProperties === 'object' && form.additionalProperties.properties !== undefined)
        addGroup(`${path}.<name>`, form.additionalProperties);
    }
  };
  addGroup('', SchemaNode.parse(configSchemaWithBounds()));
  return groups.join('\n').trim();
}

function isExtended(others: readonly string[], names: readonly string[]): boolean {
  return others.length >= sharedKeysMin && others.every((key) => names.includes(key));
}

function entryOf(path: string, node: SchemaNode, isRequired: boolean): string {
  const hasKeys = formsOf(node).some(({ properties, items, additionalProperties }) =>
    [
      properties,
      items?.properties,
      typeof additionalProperties === 'object' ? additionalProperties.properties : undefined,
    ].some((keys) => keys !== undefined),
  );
  const facts = [
    typeOf(node),
    ...(isRequired ? ['required'] : []),
    ...(isShort(node.default) ? [`default \`${JSON.stringify(node.default)}\``] : []),
    ...(hasKeys ? [] : [`example \`${exampleOf(path)}\``]),
  ];
  return `- \`${path.slice(path.lastIndexOf('.') + 1)}\` (${facts.join('; ')}): ${node.description ?? ''}`;
}

function typeOf(node: SchemaNode): string {
  return [...new Set(formsOf(node).map(typeOfForm))].join(' or ');
}

function typeOfForm(node: SchemaNode): string {
  if (node.enum !== undefined) return node.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (node.const !== undefined)
    return `\`${typeof node.const === 'string' ? node.const : JSON.stringify(node.const)}\``;
  if (node.bounds !== undefined)
    return `${node.pattern === undefined ? kindOfBounds(node) : 'duration'} from ${node.bounds}`;
  switch (node.type) {
    case 'number':
    case 'integer':
      return rangeText('number', node.minimum ?? node.exclusiveMinimum, node.maximum);
    case 'boolean':
      return '`true` or `false`';
    case 'array':
      return rangeText('list', node.minItems, node.maxItems, ' entries');
    case 'object':
      return node.properties === undefined ? 'map' : 'keys below';
    default:
      return rangeText('text', node.minLength, node.maxLength, ' characters');
  }
}

/** A text with bounds and without a pattern is a percentage. A wave also counts collectors. */
function kindOfBounds({ type }: SchemaNode): string {
  return Array.isArray(type) ? 'count or percentage' : 'percentage';
}

function rangeText(kind: string, least: number | undefined, most: number | undefined, unit = ''): string {
  const isOpen = most === undefined || most >= Number.MAX_SAFE_INTEGER;
  if (!isOpen && unit !== '' && (least ?? 0) === 0) return `${kind} of up to ${most}${unit}`;
  if (!isOpen) return `${kind} ${unit === '' ? 'from' : 'of'} ${least ?? 0} to ${most}${unit}`;
  return least === undefined || least <= 1 ? kind : `${kind} of ${least} or more${unit}`;
}

/** The forms of a value. */
function formsOf(node: SchemaNode): readonly SchemaNode[] {
  return (node.anyOf ?? [node]).flatMap((form) => (form.anyOf === undefined ? [form] : formsOf(form)));
}

function isShort(value: unknown): boolean {
  return (
    value !== undefined &&
    value !== null &&
    JSON.stringify(value).length <= 60 &&
    JSON.stringify(value) !== '{}'
  );
}
