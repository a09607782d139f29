import { quote } from './config-error.ts';

/** Reports each entry whose `name` an earlier one has. */
export function reportRepeatedNames(
  entries: readonly unknown[],
  what: string,
  report: (message: string, path: PropertyKey[]) => void,
): void {
  const seen = new Set<string>();
  entries.forEach((entry, index) => {
    const name = typeof entry === 'object' && entry !== null && 'name' in entry ? entry.name : undefined;
    if (typeof name !== 'string') return;
    if (seen.has(name))
      report(`another ${what} is called ${quote(name)} already; names must be unique`, [index, 'name']);
    seen.add(name);
  });
}
