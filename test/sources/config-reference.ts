import { z } from 'zod';
import { configJsonSchema } from './json-schema.ts';

/** The parts of a JSON Schema that are used here. */
const Node = z.object({
  type: z.string().optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z.string().optional(),
  required: z.array(z.string()).optional(),
  get properties() {
    return z.record(z.string(), Node).optional();
  },
  get items() {
    return Node.optional();
  },
  get anyOf() {
    return z.array(Node).optional();
  },
});
type Node = z.infer<typeof Node>;

/** Every key of the config file, in Markdown: a heading for each group of keys, and an entry for each key. */
export function configReference(): string {
  const groups: string[] = [];
  const pathOfKeys = new Map<string, string>();
  const addGroup = (path: string, node: Node): void => {
    const keys = Object.entries(node.properties ?? {});
    const sameKeys = keys.map(([key]) => key).join();
    const known = pathOfKeys.get(sameKeys);
    const about = node.description === undefined ? [] : [node.description, ''];
    if (known !== undefined) {
      groups.push(`## \`${path}\`\n`, ...about, `The keys are those of \`${known}\`.\n`);
      return;
    }
    pathOfKeys.set(sameKeys, path);
    const entries = keys.map(([key, child]) => entryOf(key, child, node.required?.includes(key) ?? false));
    groups.push(path === '' ? '## The file\n' : `## \`${path}\`\n`, ...about, ...entries, '');
    for (const [key, child] of keys) {
      const childPath = path === '' ? key : `${path}.${key}`;
      for (const form of formsOf(child)) {
        if (form.properties !== undefined)
          addGroup(childPath, { ...form, description: form.description ?? child.description });
        for (const item of form.items === undefined ? [] : formsOf(form.items))
          if (item.properties !== undefined) addGroup(`${childPath}[]`, item);
      }
    }
  };
  addGroup('', Node.parse(configJsonSchema()));
  return groups.join('\n').trim();
}

function entryOf(key: string, node: Node, isRequired: boolean): string {
  const facts = [
    typeOf(node),
    ...(isRequired ? ['required'] : []),
    ...(isShort(node.default) ? [`default \`${JSON.stringify(node.default)}\``] : []),
  ];
  return `- \`${key}\` (${facts.join('; ')}): ${node.description ?? ''}`;
}

function typeOf(node: Node): string {
  return [...new Set(formsOf(node).map(typeOfForm))].join(' or ');
}

function typeOfForm(node: Node): string {
  if (node.enum !== undefined) return node.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (node.pattern?.includes('(ms|s|m|h|d)') === true) return 'duration';
  switch (node.type) {
    case 'number':
    case 'integer':
      return node.maximum !== undefined && node.maximum < Number.MAX_SAFE_INTEGER
        ? `number from ${node.minimum ?? 0} to ${node.maximum}`
        : 'number';
    case 'boolean':
      return '`true` or `false`';
    case 'array':
      return 'list';
    case 'object':
      return node.properties === undefined ? 'map' : 'keys below';
    default:
      return 'text';
  }
}

/** The forms of a value. Variables are described once for all keys. */
function formsOf(node: Node): readonly Node[] {
  const forms = (node.anyOf ?? [node]).filter(
    ({ pattern }) => pattern === undefined || !/^\\\$/.test(pattern),
  );
  return forms.flatMap((form) => (form.anyOf === undefined ? [form] : formsOf(form)));
}

function isShort(value: unknown): boolean {
  return (
    value !== undefined &&
    value !== null &&
    JSON.stringify(value).length <= 60 &&
    JSON.stringify(value) !== '{}'
  );
}
