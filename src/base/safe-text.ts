/**
 * Characters that move a terminal's cursor, change its colour, turn the reading direction, or are invisible: controls,
 * line and paragraph separators, and formatting characters. The two joiners (U+200C, U+200D) are left alone, because
 * some scripts and emoji need them.
 */
const unprintable = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes characters that a terminal would interpret, as JSON does: an escape character becomes `\u001b`. */
export function toPrintable(text: string): string {
  return text.replace(unprintable, (character) =>
    // Characters beyond U+FFFF have two code units.
    Array.from({ length: character.length }, (_, unit) => escapeOf(character.charCodeAt(unit))).join(''),
  );
}

function escapeOf(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

/** Blanks, line breaks, control and formatting characters of any kind, and lone surrogates. */
const gaps = /[\s\p{C}\p{Z}]+/gu;

/**
 * Puts foreign text on one line: blanks and line breaks become one blank, invisible characters are removed. Search for
 * secrets only afterwards, because invisible characters may have split one (P12).
 */
export function toOneLine(text: string): string {
  return text.replace(gaps, (gap) => (/[\s\p{Z}]/u.test(gap) ? ' ' : '')).trim();
}

/**
 * The beginning of a text, without a lone surrogate at its end. A Redis script cannot parse a record that has one.
 * @param lengthMax in UTF-16 code units, as `length` counts
 */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return text.slice(0, lengthMax).replace(/[\ud800-\udbff]$/, '');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as HTML, also within an attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
