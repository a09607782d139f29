/** What a body's text is: JSON, JSON nested deeper than we follow, nothing, or something else such as HTML. */
export type ReadJson =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'tooDeep' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'other' };

/**
 * Reads JSON. An integer that a JavaScript number can't hold exactly becomes its text, since an id is a 64-bit `long`
 * (collector-api.md §2.3) and a rounded id would name another task.
 */
export function readJson(text: string): ReadJson {
  if (text.trim() === '') return { kind: 'empty' };
  return isTooDeep(text) ? { kind: 'tooDeep' } : parseFlatJson(text);
}

/** As `readJson`, for a text whose depth was looked at already. */
export function parseFlatJson(text: string): Extract<ReadJson, { kind: 'json' | 'other' }> {
  try {
    const value: unknown = JSON.parse(quoteLargeIntegers(text));
    return { kind: 'json', value };
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: 'other' };
    throw error;
  }
}

// 2^53 has 16 digits, a long 19. Numbers of more than a hundred are nobody's id, and a bound keeps the stack small.
// What follows a point, or is an exponent, is no integer of its own.
const largeInteger = /(?<![\w.+-])-?\d{16,100}\b(?![.eE])/g;

/**
 * Goes from string to string, since digits inside of one are left alone. One expression for both would try each quote of
 * a broken text again, and need a stack as deep as the longest string.
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

/** Where the JSON string that opens here is over: after its closing quote, or at the end of a text that was cut off. */
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
