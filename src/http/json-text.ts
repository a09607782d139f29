import { isTooDeep } from './json-depth.ts';
import { endOfString } from './json-string.ts';

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
 * a broken text anew, and need a stack as deep as the longest string.
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
