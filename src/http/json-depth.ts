import { endOfString } from './json-string.ts';

/** Deeper than anything our APIs speak of. Writing JSON recurses, so a body nested without end would break who passes it on. */
export const depthMax = 100;

const [quote, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x7b, 0x7d, 0x5b, 0x5d];

/**
 * True when objects and arrays are nested deeper than we are willing to follow. Reads the text, before anything is made
 * of it, and holds no more than a number.
 */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at) - 1;
    else if (code === openBrace || code === openBracket) {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (code === closeBrace || code === closeBracket) depth -= 1;
  }
  return false;
}
