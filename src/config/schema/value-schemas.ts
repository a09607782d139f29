import { z } from 'zod';
import { Secret } from '../../base/secret.ts';
import { type DurationMs, parseDuration } from '../../base/time.ts';
import { quote } from '../source/config-error.ts';

/** Longer durations are mistakes in the unit. */
const longest = '366d';

/**
 * A duration as text, such as `30s`; in the code milliseconds.
 * @param atLeast the shortest valid one, as a text
 * @param atMost the longest valid one; values for timers stay below 24 days, beyond which timers fire at once
 */
export function durationSchema(atLeast: string, atMost: string = longest) {
  const leastMs = parseDuration(atLeast) ?? 0;
  const mostMs = parseDuration(atMost) ?? 0;
  return z
    .string({
      error: (issue) =>
        issue.input === undefined ? undefined : 'must be a duration such as 30s, 15m or 12h',
    })
    .transform((text, context): DurationMs => {
      const durationMs = parseDuration(text);
      if (durationMs === undefined) {
        context.addIssue(`${quote(text)} is not a duration; write one such as 250ms, 30s, 15m, 12h or 7d`);
        return z.NEVER;
      }
      if (durationMs < leastMs) context.addIssue(`must be at least ${atLeast}`);
      if (durationMs > mostMs) context.addIssue(`must be at most ${atMost}`);
      return durationMs;
    })
    .meta({
      pattern: '^\\d+(\\.\\d+)?(ms|s|m|h|d)$',
      examples: ['30s', '15m', '12h'],
      bounds: `${atLeast} to ${atMost}`,
    });
}

/** A whole number within bounds. */
export function wholeNumber(least: number, most: number) {
  return z.number().int().min(least).max(most);
}

/** A name that becomes part of ids, keys and metric labels. */
export function shortName() {
  return z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9-]{0,62}$/,
      'must be 1 to 63 small letters, digits or "-", and start with a letter or digit',
    );
}

/** A rule for credentials, and the message for a violation. */
export interface Unfit {
  readonly pattern: RegExp;
  readonly sentence: string;
}

/** A credential, wrapped at once (P12). @param unfit its rules; the first violation is reported */
export function secretText(...unfit: readonly Unfit[]) {
  return z
    .string()
    .min(1, 'is empty; give the credential, or name a file that holds it')
    .superRefine((text, context) => {
      const problem = unfit.find(({ pattern }) => pattern.test(text));
      if (problem !== undefined) context.addIssue(problem.sentence);
    })
    .transform((text) => new Secret(text));
}

/** Credentials are sent in headers, which allow no control characters. The usual mistake is a stray line break. */
export const unprintable = {
  pattern: /[^\x21-\x7e]/,
  sentence: "holds a space, a line break or another character that can't be in a credential",
} as const;

/** Only the token protects the verbs, and the log does not redact short texts. */
export const guessable = {
  pattern: /^.{1,15}$/s,
  sentence:
    'is shorter than 16 characters, so it can be guessed; take a random one, as `openssl rand -hex 16` prints',
} as const;

/** Basic authentication ends the access id at the first colon. */
export const unfitForId = {
  pattern: /[^\x21-\x39\x3b-\x7e]/,
  sentence: `holds a colon, ${unprintable.sentence.replace('holds ', '')}`,
} as const;

const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Refuses a mapping with none or with several of these keys. @param remedy what to do with several */
export function oneOf(keys: readonly string[], remedy?: string) {
  return wholeCheck((value, report) => {
    if (keys.every((key) => value[key] === undefined)) report(`needs ${alternatives.format(keys)}`);
    reportSeveral(value, keys, report, remedy);
  });
}

/** Reports the second of these keys where several are given. */
export function reportSeveral(
  value: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  report: WholeReport,
  remedy = 'keep one',
): void {
  const present = keys.filter((key) => value[key] !== undefined);
  const [, second] = present;
  if (second !== undefined) report(`${present.join(' and ')} are given; ${remedy}`, [second]);
}

/** A free name: `prometheus`, or `prometheus-2` and so on if that is taken. */
export function freeName(kind: string, taken: ReadonlySet<string>): string {
  let name = kind;
  // Ends: at most one name more is tried than are taken.
  for (let number = 2; taken.has(name); number += 1) name = `${kind}-${number}`;
  return name;
}

/** A share such as `80%`; from 0 to 1 inside. @param example for a message */
export function percentageSchema(example: string, leastPercent = 1) {
  const sentence = `must be a percentage from ${leastPercent}% to 100%, such as ${example}`;
  return z
    .string({ error: (issue) => (issue.input === undefined ? undefined : sentence) })
    .transform((text, context): number => {
      const percent = Number(/^(\d{1,3}(?:\.\d+)?) ?%$/.exec(text.trim())?.[1] ?? Number.NaN);
      if (percent >= leastPercent && percent <= 100) return percent / 100;
      context.addIssue(`${quote(text)} is not a share; it ${sentence}`);
      return z.NEVER;
    })
    .meta({ bounds: `${leastPercent}% to 100%` });
}

/** An http or https URL. Messages never show it, because it may contain a password. */
export function httpUrl(words: {
  readonly example: string;
  /** Where to write a user name and password instead. */
  readonly credentials: string;
  /** Where to write a query instead. */
  readonly query: string;
}) {
  return z.string().transform((text, context): URL => {
    if (!URL.canParse(text)) {
      context.addIssue(`is not a URL; write one such as ${words.example}`);
      return z.NEVER;
    }
    const url = new URL(text);
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      context.addIssue('must start with https:// or http://');
    if (url.username !== '' || url.password !== '')
      context.addIssue(`must not contain a user name or password; ${words.credentials}`);
    if (url.hash !== '') context.addIssue('must not contain a fragment ("#…")');
    if (url.search !== '') context.addIssue(`must not contain a query ("?…"); ${words.query}`);
    return url;
  });
}

/** The path of a file, relative to the config file's folder. */
export function filePath() {
  return z.string().min(1, 'is empty; name a file');
}

/** The file that may contain a credential. @param key the key that it replaces */
export function secretFile(what: string, key: string) {
  return filePath()
    .exactOptional()
    .describe(`A file with ${what}, instead of ${key}. Relative to the config file.`);
}

/** One entry or a list of them; in the code a list. @param entriesMax more than any hand-written list has */
export function oneOrMany<Item extends z.ZodType>(item: Item, entriesMax: number) {
  return z
    .union([
      item,
      z.array(item).min(1, 'is an empty list, which nothing matches; remove the key').max(entriesMax),
    ])
    .transform((input): Array<z.output<Item>> => (Array.isArray(input) ? input : [input as z.output<Item>]));
}

/**
 * Checks a mapping as a whole even when parts of it are wrong, to report all problems at once. The check must accept parts
 * of any type: only valid parts have the right one.
 */
export function wholeCheck(check: (value: Record<string, unknown>, report: WholeReport) => void) {
  return checkAnyway((value, report) => {
    if (typeof value === 'object' && value !== null) check({ ...value }, report);
  });
}

export type WholeReport = (message: string, path?: readonly PropertyKey[]) => void;

/** Like `wholeCheck`, for a list. */
export function wholeListCheck(check: (entries: readonly unknown[], report: WholeReport) => void) {
  return checkAnyway((entries, report) => {
    if (Array.isArray(entries)) check(entries, report);
  });
}

function checkAnyway(check: (value: unknown, report: WholeReport) => void) {
  return z.superRefine<unknown>(
    (value, context) =>
      check(value, (message, path = []) => context.addIssue({ code: 'custom', message, path: [...path] })),
    { when: () => true },
  );
}

/** Refuses an entry whose `name` an earlier one has. @param what an entry is */
export function uniqueNames(what: string) {
  return wholeListCheck((entries, report) => {
    const names = entries.map((entry) => partOf(entry, 'name'));
    names.forEach((name, index) => {
      if (typeof name === 'string' && names.indexOf(name) < index)
        report(`another ${what} is called ${quote(name)} already; names must be unique`, [index, 'name']);
    });
  });
}

/** The value of a key in unchecked data. @returns undefined if the data is no object or lacks the key */
export function partOf(data: unknown, key: PropertyKey): unknown {
  return typeof data === 'object' && data !== null && Object.hasOwn(data, key)
    ? Reflect.get(data, key)
    : undefined;
}
