/** Blanks and breaks of any kind, and characters that move a cursor, hide, turn the reading direction, or are half of one. */
const gaps = /[\s\p{C}\p{Z}]+/gu;

/**
 * Words of others in one line: blanks and breaks become one blank, what nobody sees goes. Secrets are to be looked for
 * afterwards, since one may have been parted by what nobody sees (P12).
 */
export function toOneLine(text: string): string {
  return text.replace(gaps, (gap) => (/[\s\p{Z}]/u.test(gap) ? ' ' : '')).trim();
}
