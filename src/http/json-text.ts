/** What a body's text is: JSON, JSON nested too deep, nothing, or something else such as HTML. */
export type ReadJson =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'tooDeep' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'other' };

/**
 * Parses JSON. An integer that a JavaScript number can't represent exactly becomes a string: an id is a 64-bit `long`
 * (collector-api.md §2.3), and a rounded id would name another task.
 */
export function readJson(text: string): ReadJson {
  return isTooDeep(text) ? { kind: 'tooDeep' } : parseJson(text);
}

/** The same at any depth. Only the caller knows whether it is safe to recurse into the value. */
export function parseJson(text: string): Exclude<ReadJson, { kind: 'tooDeep' }> {
  if (text.trim() === '') return { kind: 'empty' };
  try {
    const value: unknown = JSON.parse(quoteLargeIntegers(text));
    return { kind: 'json', value };
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: 'other' };
    throw error;
  }
}

// 2^53 has 16 digits, a long 19. Longer numbers than 100 digits are no ids, and the limit keeps the regex stack small.
// Digits after a point or in an exponent are not integers of their own.
const largeInteger = /(?<![\w.+-])-?\d{16,100}\b(?![.eE])/g;

/**
 * Skips strings, whose digits are left alone. One expression for both would retry each quote of a broken text, and need
 * a stack as deep as the longest string.
 */
function quoteLargeIntegers(text: string): string {
  if (!/\d{16}/.test(text)) return text;
  const parts: string[] = [];
  let from = 0;
  while (from < text.length) {
    const opening = text.indexOf('"', from);
    const stringAt = opening === -1 ? text.length : opening;
    const afterString = endOfString(text, stringAt);
    parts.push(text.slice(from, stringAt).replace(largeInteger, quoted), text.slice(stringAt, afterString));
    from = afterString;
  }
  return parts.join('');
}

function quoted(digits: string): string {
  return Number.isSafeInteger(Number(digits)) ? digits : `"${digits}"`;
}

/**
 * Deeper than any body of these APIs. Serializing JSON recurses, so an endlessly nested body would overflow the stack
 * later.
 */
export const depthMax = 100;

const [quote, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x7b, 0x7d, 0x5b, 0x5d];

/** True when objects and arrays are nested too deep. It scans the text before anything is parsed. */
function isTooDeep(text: string): boolean {
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

/** The end of the JSON string that opens here: after its closing quote, or at the end of a truncated text. */
function endOfString(text: string, opening: number): number {
  let closing = text.indexOf('"', opening + 1);
  while (closing !== -1 && isEscaped(text, closing)) closing = text.indexOf('"', closing + 1);
  return closing === -1 ? text.length : closing + 1;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}
