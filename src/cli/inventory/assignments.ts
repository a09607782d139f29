import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { UsageFailure } from '../shell/command.ts';
import { parseJson } from '../shell/option-values.ts';

/** One `--set name=value`. */
export interface Assignment {
  readonly name: string;
  /** The rest of a dotted name: `fields.team=core` has one. */
  readonly inner: readonly string[];
  readonly text: string;
}

/** The types of some fields in the contract: they decide whether `123` is a name or a number. */
export type KnownFields = Readonly<Record<string, z.ZodType>>;

/** The one field that is a map of texts, keys with periods included (collector-api.md §2.1). */
const textMap = 'fields';

/** Collects repeated `--set` options. @throws InvalidArgumentError when an option is not `name=value` */
export function collectAssignment(text: string, before: readonly Assignment[] = []): Assignment[] {
  const match = /^([^=]+)=(.*)$/s.exec(text);
  const [name = '', ...rest] = (match?.[1] ?? '').split('.');
  if (match === null || name === '' || rest.includes('')) {
    throw new InvalidArgumentError('write name=value, such as category=prod/web or fields.team=core.');
  }
  const inner = name === textMap && rest.length > 0 ? [rest.join('.')] : rest;
  return [...before, { name, inner, text: match[2] ?? '' }];
}

/**
 * The fields that the assignments set, made from the resource as it is: `fields.team=core` keeps the other fields.
 * @throws CommandFailure when a dotted name leads into something that has no names
 */
export function applyAssignments(
  resource: Readonly<Record<string, unknown>>,
  assignments: readonly Assignment[],
  known: KnownFields,
): Record<string, unknown> {
  const stated = new Map<string, unknown>();
  for (const { name, inner, text } of assignments) {
    const current = stated.has(name)
      ? stated.get(name)
      : Object.entries(resource).find(([key]) => key === name)?.[1];
    const value = name === textMap && inner.length > 0 ? mapText(text) : readValue(text, known[name], inner);
    stated.set(name, assignInto(current, inner, { name, value }));
  }
  return Object.fromEntries(stated);
}

function assignInto(
  current: unknown,
  path: readonly string[],
  { name, value }: { readonly name: string; readonly value: unknown },
): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(current) || (current !== null && current !== undefined && typeof current !== 'object')) {
    throw new UsageFailure(`${name} has no ${key}: set the whole of ${name}, as JSON`);
  }
  const entries = new Map(Object.entries(current ?? {}));
  const next = assignInto(entries.get(key), rest, { name: `${name}.${key}`, value });
  if (next === undefined) entries.delete(key);
  else entries.set(key, next);
  return Object.fromEntries(entries);
}

/** A value of `fields`: always a text. An empty value removes the key. */
function mapText(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** Parses JSON where it is JSON, else takes the text. An empty value is null. A field that is a text in the contract stays one. */
function readValue(text: string, schema: z.ZodType | undefined, inner: readonly string[]): unknown {
  if (text === '') return null;
  const value = parseJson(text);
  if (value === undefined) return text;
  const isText = inner.length === 0 && schema?.safeParse(value).success === false;
  return isText && schema.safeParse(text).success ? text : value;
}
