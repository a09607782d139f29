/**
 * Characters that move a terminal's cursor, colour it, turn the reading direction, or cannot be seen: controls, line and
 * paragraph separators, and all formatting ones but the two joiners (U+200C, U+200D), which some scripts and emoji are
 * written with. Names of collectors come from machines and may hold any of them.
 */
const unprintable = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Shows characters that a terminal would obey as what they are: an escape becomes `\u001b`, as JSON writes it. */
export function toPrintable(text: string): string {
  return text.replace(unprintable, (character) =>
    // Those beyond U+FFFF are two units.
    Array.from({ length: character.length }, (_, unit) => escapeOf(character.charCodeAt(unit))).join(''),
  );
}

function escapeOf(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

/** Blanks and breaks of any kind, and characters that move a cursor, hide, turn the reading direction, or are half of one. */
const gaps = /[\s\p{C}\p{Z}]+/gu;

/**
 * Words of others in one line: blanks and breaks become one blank, what nobody sees goes. Secrets are to be looked for
 * afterwards, since one may have been parted by what nobody sees (P12).
 */
export function toOneLine(text: string): string {
  return text.replace(gaps, (gap) => (/[\s\p{Z}]/u.test(gap) ? ' ' : '')).trim();
}

/**
 * The beginning of a text, without a lone surrogate at its end. A script in Redis cannot read a record that has one.
 * @param lengthMax as `length` counts: most emoji are two
 */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return text.slice(0, lengthMax).replace(/[\ud800-\udbff]$/, '');
}
