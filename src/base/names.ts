import { distance } from 'fastest-levenshtein';

// Long enough for a key, a stratum's label or a rollout's id. Longer texts are slow to compare.
const lengthMax = 200;

/** The known text that is nearest, ignoring case, blanks and dashes. Undefined when none is near. */
export function nearestText(text: string, known: readonly string[]): string | undefined {
  return nearestTexts(text, known, 1)[0] ?? clearlyNearest(text, known);
}

/** What is wrong with a name that the config lacks: `there is no policy prdo; did you mean prod?` */
export function notInConfig(what: string, name: string, known: readonly string[]): string {
  const near = nearestNames(name, known);
  const hint = near.length === 0 ? `the config has ${known.join(', ')}` : `did you mean ${orNames(near)}?`;
  return `there is no ${what} ${name}; ${hint}`;
}

// In a text of three letters or fewer, two typos leave nothing to recognise.
const clearLengthMin = 4;
const clearSlipsMax = 2;

/**
 * Finds a text with two typos, such as `soke` for `soak`: the only known text with the same first letter and at most
 * one other letter that differs, in any order.
 */
function clearlyNearest(text: string, known: readonly string[]): string | undefined {
  const meant = simplified(text);
  if (meant.length < clearLengthMin || meant.length > lengthMax) return undefined;
  const near = [...new Set(known)].filter((each) => {
    const name = simplified(each);
    if (each.length > lengthMax || name[0] !== meant[0]) return false;
    const isAlike = sharedLetters(meant, name) >= Math.max(meant.length, name.length) - 1;
    return isAlike && slips(meant, name) <= clearSlipsMax;
  });
  return near.length === 1 ? near[0] : undefined;
}

function sharedLetters(one: string, other: string): number {
  const left = other.split('');
  return one.split('').filter((letter) => {
    const at = left.indexOf(letter);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  }).length;
}

/** The nearest known texts, the nearest first, at most `countMax`. */
export function nearestTexts(text: string, known: readonly string[], countMax: number): string[] {
  if (text.length > lengthMax) return [];
  // Up to a third of the letters may be wrong.
  const wrongMax = Math.max(1, Math.floor(text.length / 3));
  const meant = simplified(text);
  return [...new Set(known)]
    .filter(({ length }) => length <= lengthMax)
    .map((each) => ({ each, wrong: slips(meant, simplified(each)) }))
    .filter(({ wrong }) => wrong <= wrongMax)
    .sort((one, other) => one.wrong - other.wrong)
    .slice(0, countMax)
    .map(({ each }) => each);
}

// So that a hint fits on one line.
const namesMax = 3;

/** The names that may be meant: all that begin with the text, in order; without any, the few nearest ones. */
export function nearestNames(text: string, known: readonly string[]): readonly string[] {
  const begun = begunNames(text, known);
  if (begun.length > 0) return begun;
  const near = nearestTexts(text, known, namesMax);
  return near.length > 0 ? near : [clearlyNearest(text, known)].filter((name) => name !== undefined);
}

/** The known names that begin with the text, ignoring case, in order. */
export function begunNames(text: string, known: readonly string[]): readonly string[] {
  const begin = text.trim().toLowerCase();
  if (begin === '') return [];
  return [...new Set(known.filter((name) => name.toLowerCase().startsWith(begin)))].sort();
}

/** The first few of the names that may be meant, and how many more there are: `a, b, c or 2 more`. */
export function orNames(names: readonly string[]): string {
  const listed = names.slice(0, namesMax).join(', ');
  const more = names.length - namesMax;
  return more > 0 ? `${listed} or ${more} more` : listed;
}

function simplified(text: string): string {
  return text.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** The edit distance, where two swapped letters count as one typo. */
function slips(one: string, other: string): number {
  const wrong = distance(one, other);
  return wrong === 2 && sorted(one) === sorted(other) ? 1 : wrong;
}

function sorted(text: string): string {
  return text.split('').sort().join('');
}

// So that the list fits on one line.
export const namesShown = 5;

/**
 * The first few names, and how many more there are: `a, b, c, d, e and 2 more`.
 * @param count the total, where only the first names are given
 */
export function someNames(names: readonly string[], count = names.length): string {
  const listed = names.slice(0, namesShown).join(', ');
  const more = count - namesShown;
  return more > 0 ? `${listed} and ${more} more` : listed;
}

/**
 * Parses a collector's id, ignoring blanks around it. Undefined for a name, and for a number too large to be exact:
 * rounding would make it the id of another collector.
 */
export function parseCollectorId(text: string): number | undefined {
  const id = /^\s*\d{1,16}\s*$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
}
