/**
 * Characters that move a terminal's cursor, colour it, or turn the reading direction: controls, line and paragraph
 * separators, and the marks of bidirectional text. Names of collectors come from machines and may hold any of them.
 */
const unprintable = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Shows characters that a terminal would obey as what they are: an escape becomes `\u001b`. */
export function toPrintable(text: string): string {
  return text.replace(unprintable, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
