import { formatPath, quote, withoutUserInfo } from '../source/config-error.ts';
import type { PlacedIssue } from '../source/describe-problems.ts';

/** A text that comes, at least in part, from the environment. */
export interface SubstitutedText {
  readonly path: readonly PropertyKey[];
  /** As in the file: `${NAME}`. */
  readonly written: string;
  readonly value: string;
}

export interface Substitution {
  /** A copy of the data with every `${NAME}` replaced. */
  readonly value: unknown;
  /** By formatted path. */
  readonly texts: ReadonlyMap<string, SubstitutedText>;
  readonly issues: readonly PlacedIssue[];
}

/** The maximum size of the data. Aliases can repeat parts of a file many times. */
const nodesMax = 200_000;

/**
 * Replaces `${NAME}` in every text of the data by the environment's value; `$${` stands for a literal `${`.
 * Keys are not changed, and values from the environment are not substituted again.
 */
export function substituteEnvironment(
  data: unknown,
  environment: Readonly<Record<string, string | undefined>>,
): Substitution {
  const texts = new Map<string, SubstitutedText>();
  const issues: PlacedIssue[] = [];
  let nodeCount = 0;

  const walk = (node: unknown, path: readonly PropertyKey[]): unknown => {
    nodeCount += 1;
    if (nodeCount > nodesMax) return null;
    if (typeof node === 'string') return node.includes('${') ? replaceIn(node, path) : node;
    if (Array.isArray(node)) return node.map((item: unknown, index) => walk(item, [...path, index]));
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([key, item]) => [key, walk(item, [...path, key])]));
  };
  const replaceIn = (written: string, path: readonly PropertyKey[]): string => {
    const report = (message: string) => issues.push({ path, message, part: 'value' });
    let isSubstituted = false;
    const value = written.replaceAll(
      /(\$?)\$\{([^}]*)(\}?)/g,
      (whole, doubled: string, name: string, end: string) => {
        if (doubled !== '') return whole.slice(1);
        if (end === '' || !/^[A-Za-z_]\w*$/.test(name)) {
          report(`${quote(whole)} is not an environment variable; write \${NAME}, or $\${ for a literal \${`);
          return whole;
        }
        isSubstituted = true;
        const found = Object.hasOwn(environment, name) ? environment[name] : undefined;
        if (found === undefined)
          report(`the environment variable ${name} is not set; set it, or write the value here`);
        return found ?? whole;
      },
    );
    if (isSubstituted) texts.set(formatPath(path), { path, written, value });
    return value;
  };

  const value = walk(data, []);
  if (nodeCount > nodesMax) {
    issues.push({ path: [], message: `holds more than ${nodesMax} values; make it smaller`, part: 'value' });
  }
  return { value, texts, issues };
}

/** Removes texts of the environment from a message, because they may be secrets. */
export function redactSubstituted(message: string, text: SubstitutedText): string {
  const quoted = [quote(text.value), quote(withoutUserInfo(text.value))];
  return quoted.reduce((clean, part) => clean.replaceAll(part, quote(text.written)), message);
}

/** @returns the number or boolean that a text from the environment spells, else undefined */
export function plainScalarOf(text: string): number | boolean | undefined {
  const trimmed = text.trim();
  if (trimmed === 'true' || trimmed === 'false') return trimmed === 'true';
  return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : undefined;
}
