/** Escapes text for roff, which interprets backslashes, hyphens, and control characters at the start of a line, and reads bytes. */
export function roff(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/[^\u0020-\u007e]/gu, (character) => {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
      return `\\[u${code.padStart(4, '0')}]`;
    });
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
