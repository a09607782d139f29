import { distance } from 'fastest-levenshtein';

// A key, a label of a stratum, a rollout's id; longer texts are no slip of one, and slow to compare.
const lengthMax = 200;

/** The known text that a person most likely meant, whatever the case, blanks and dashes; undefined where none is near. */
export function nearestText(text: string, known: readonly string[]): string | undefined {
  return nearestTexts(text, known, 1)[0] ?? clearlyNearest(text, known);
}

// Of three letters or fewer, two wrong ones leave nothing.
const clearLengthMin = 4;
const clearSlipsMax = 2;

/**
 * A short text with two slips, such as `soke` for `soak`: the only known one that begins alike, and has all letters but
 * one, in whatever order.
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

/** The known texts that a person may have meant, the nearest first, at most `countMax`. */
export function nearestTexts(text: string, known: readonly string[], countMax: number): string[] {
  if (text.length > lengthMax) return [];
  // A third of the letters wrong is still a slip; more is another thing.
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

// A hint is one line.
const namesMax = 3;

/** A few names that a person may have meant: those that begin with the text, then the nearest ones. */
export function nearestNames(text: string, known: readonly string[]): string[] {
  const begin = text.trim().toLowerCase();
  const begun = begin === '' ? [] : known.filter((name) => name.toLowerCase().startsWith(begin));
  const near = [...begun.slice(0, namesMax), ...nearestTexts(text, known, namesMax)];
  return [...new Set(near)].slice(0, namesMax);
}

function simplified(text: string): string {
  return text.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** Letters to change, with two letters that changed places counted as one slip. */
function slips(one: string, other: string): number {
  const wrong = distance(one, other);
  return wrong === 2 && sorted(one) === sorted(other) ? 1 : wrong;
}

function sorted(text: string): string {
  return text.split('').sort().join('');
}

// What fits a line that a person reads.
export const namesShown = 5;

/**
 * The first few of some names, and how many more there are: `a, b, c, d, e and 2 more`.
 * @param count how many there are, where only the first ones are known
 */
export function someNames(names: readonly string[], count = names.length): string {
  const shown = names.slice(0, namesShown).join(', ');
  const more = count - namesShown;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/**
 * The id that a person's word is, blanks around it left out; undefined for what can only be a name. A longer number than
 * ours hold exactly is none: rounded, it would be the id of another collector.
 */
export function parseCollectorId(text: string): number | undefined {
  const id = /^\s*\d{1,16}\s*$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
}
