/**
 * Characters that move a terminal's cursor, colour it, turn the reading direction, or cannot be seen: controls, line and
 * paragraph separators, and all formatting ones but the two joiners (U+200C, U+200D), which some scripts and emoji are
 * written with. Names of collectors come from machines and may hold any of them.
 */
export const unprintable = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

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
