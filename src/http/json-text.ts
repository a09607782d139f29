/** What a body's text is: JSON, nothing, or something else such as HTML. */
export type ReadJson =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'empty' }
  | { readonly kind: 'other' };

/**
 * Reads JSON. An integer that a JavaScript number can't hold exactly becomes its text, since an id is a 64-bit `long`
 * (collector-api.md §2.3) and a rounded id would name another task.
 */
export function readJson(text: string): ReadJson {
  if (text.trim() === '') return { kind: 'empty' };
  try {
    return { kind: 'json', value: JSON.parse(quoteLargeIntegers(text)) };
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: 'other' };
    throw error;
  }
}

// Strings are matched first, so that digits inside them are left alone. 16 digits: 2^53 has as many.
const stringOrLargeInteger = /"(?:[^"\\]|\\.)*"|-?\b\d{16,}\b(?![.eE])/g;

function quoteLargeIntegers(text: string): string {
  if (!/\d{16}/.test(text)) return text;
  return text.replace(stringOrLargeInteger, (token) =>
    token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${token}"`,
  );
}
