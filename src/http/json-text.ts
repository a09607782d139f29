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

// 2^53 has 16 digits, a long 19. Numbers with more than 100 digits are no ids.
const [idDigitsMin, idDigitsMax] = [16, 100];

/** Skips strings, whose digits are left alone. It reads each character once, whatever the text is. */
function quoteLargeIntegers(text: string): string {
  if (!/\d{16}/.test(text)) return text;
  const parts: string[] = [];
  let from = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (!isDigit(code)) at += 1;
    else {
      const first = text.charCodeAt(at - 1) === minus ? at - 1 : at;
      const digitsAt = at;
      while (isDigit(text.charCodeAt(at))) at += 1;
      const isId = at - digitsAt >= idDigitsMin && at - digitsAt <= idDigitsMax;
      if (!isId || continuesNumber(text[first - 1]) || continuesNumber(text[at])) continue;
      const digits = text.slice(first, at);
      if (Number.isSafeInteger(Number(digits))) continue;
      parts.push(text.slice(from, first), `"${digits}"`);
      from = at;
    }
  }
  parts.push(text.slice(from));
  return parts.join('');
}

// Digits after a point or in an exponent are not integers of their own.
function continuesNumber(character: string | undefined): boolean {
  return character !== undefined && /[\w.+-]/.test(character);
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine;
}

/**
 * Deeper than any body of these APIs. Serializing JSON recurses, so an endlessly nested body would overflow the stack
 * later.
 */
export const depthMax = 100;

const [quote, backslash, minus, zero, nine] = [0x22, 0x5c, 0x2d, 0x30, 0x39];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

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
  for (let at = opening + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === backslash) at += 1;
  }
  return text.length;
}
