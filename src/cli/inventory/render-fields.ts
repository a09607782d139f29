import { toPrintable } from '../../base/safe-text.ts';

/** A resource as one `name  value` a line: objects by dotted names, as `--set` takes them, and lists as JSON. */
export function renderFields(resource: object): string {
  const fields = [...flatFields(resource)];
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => toPrintable(`${name.padEnd(width)}  ${showValue(value)}`)).join('\n');
}

/** What differs between two states of a resource, one line each: `category: "a" → "b"`. */
export function renderDifference(
  { before, after }: { readonly before: object; readonly after: object },
  ignoredFields: readonly string[],
): readonly string[] {
  const [old, young] = [flatFields(before), flatFields(after)];
  const names = [...new Set([...old.keys(), ...young.keys()])].filter(
    (name) => !ignoredFields.includes(name.split('.', 1)[0] ?? ''),
  );
  return names
    .map((name) => [name, quoted(old.get(name)), quoted(young.get(name))] as const)
    .filter(([, was, is]) => was !== is)
    .map(([name, was, is]) => toPrintable(`${name}: ${was} → ${is}`));
}

function flatFields(resource: object, prefix = ''): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  for (const [name, value] of Object.entries(resource)) {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      for (const [inner, innerValue] of flatFields(value, `${prefix}${name}.`)) fields.set(inner, innerValue);
    } else fields.set(`${prefix}${name}`, value);
  }
  return fields;
}

function showValue(value: unknown): string {
  return typeof value === 'string' ? value : quoted(value);
}

function quoted(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
