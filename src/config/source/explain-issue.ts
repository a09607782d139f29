import { z } from 'zod';
import { assertNever } from '../../base/assert.ts';
import { nearestText } from '../../base/names.ts';
import { singularOrPlural } from '../../base/singular-or-plural.ts';
import { keyName, quote } from './config-error.ts';

/**
 * Zod's issues in an operator's words; pass it as `error` to `safeParse`. A schema's own message takes precedence. Unknown
 * keys give one line for each key, in the order of the issue's `keys`. A value is shown only where the schema lists the
 * allowed ones: no secret may get into a message.
 */
export function explainIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return explainUnknownKeys(issue.keys, knownKeys(issue.inst));
    case 'invalid_type':
      if (issue.input === undefined) return `is missing; it must be ${expectedName(issue.expected)}`;
      return `must be ${expectedName(issue.expected)}, not ${kindOf(issue.input)}${quoteHint(issue)}`;
    case 'invalid_value':
      return explainChoice(issue.values.map(String), issue.input);
    case 'too_small':
      return `must ${sizeVerb(issue.origin)} ${issue.inclusive === false ? 'more than' : 'at least'} ${sizeOf(issue.origin, issue.minimum)}`;
    case 'too_big':
      return `must ${sizeVerb(issue.origin)} ${issue.inclusive === false ? 'less than' : 'at most'} ${sizeOf(issue.origin, issue.maximum)}`;
    case 'invalid_union':
      return explainUnion(issue.errors, issue.input);
    case 'invalid_key':
      return 'has a key that is not allowed';
    case 'custom':
    case 'invalid_element':
    case 'invalid_format':
    case 'not_multiple_of':
      return 'is not valid';
    default:
      return assertNever(issue);
  }
}

/** Messages show no more, and finding the nearest key takes time. */
const comparedMax = 100;

function explainUnknownKeys(keys: readonly string[], known: readonly string[]): string {
  return keys
    .map((key, index) =>
      index < comparedMax ? explainUnknownKey(key, known) : `unknown key ${quote(keyName(key))}`,
    )
    .join('\n');
}

function explainUnknownKey(key: string, known: readonly string[]): string {
  const name = keyName(key);
  const missesBlank = known.find((word) => key.startsWith(`${word}:`));
  if (missesBlank !== undefined)
    return `unknown key ${quote(name)}; write "${missesBlank}: …", with a blank after the colon`;
  const nearest = nearestText(name === key ? key : name.slice(0, -1), known);
  if (nearest !== undefined) return `unknown key ${quote(name)}; did you mean ${quote(nearest)}?`;
  const list = known.length === 0 ? '' : `; known here: ${known.join(', ')}`;
  return `unknown key ${quote(name)}, not known in this release${list}`;
}

function knownKeys(schema: unknown): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function explainChoice(choices: readonly string[], input: unknown): string {
  const list = choices.map(quote).join(', ');
  if (input === undefined) return `is missing; it must be one of ${list}`;
  if (typeof input !== 'string') return `must be one of ${list}, not ${kindOf(input)}`;
  const nearest = nearestText(input, choices);
  return `must be one of ${list}${nearest === undefined ? '' : `; did you mean ${quote(nearest)}?`}`;
}

function explainUnion(branches: readonly (readonly z.core.$ZodIssue[])[], input: unknown): string {
  const expected = branches
    .map(([first]) => (first?.code === 'invalid_type' ? expectedName(first.expected) : undefined))
    .filter((name) => name !== undefined);
  if (expected.length === 0) return 'is not valid';
  return `must be ${[...new Set(expected)].join(' or ')}, not ${kindOf(input)}`;
}

const expectedNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of keys',
  record: 'a mapping of keys',
};

function expectedName(expected: string): string {
  return expectedNames[expected] ?? expected;
}

/** The kind of a value, in words for people. */
function kindOf(input: unknown): string {
  if (input === null || input === undefined) return 'empty';
  if (Array.isArray(input)) return 'a list';
  if (typeof input === 'string') return 'text';
  if (typeof input === 'number') return Number.isInteger(input) ? 'a number' : 'a number with a fraction';
  return typeof input === 'boolean' ? 'true or false' : 'a mapping of keys';
}

function quoteHint(issue: { readonly expected: string; readonly input: unknown }): string {
  const isBare = typeof issue.input === 'number' || typeof issue.input === 'boolean';
  return issue.expected === 'string' && isBare ? '; put it in quotes' : '';
}

function sizeVerb(origin: string): string {
  return origin === 'string' || origin === 'array' ? 'have' : 'be';
}

function sizeOf(origin: string, amount: number | bigint): string {
  if (origin === 'string') return `${amount} ${singularOrPlural(Number(amount), 'character')}`;
  if (origin === 'array') return `${amount} ${singularOrPlural(Number(amount), 'entry', 'entries')}`;
  return String(amount);
}
