import { describe, expect, it } from 'vitest';
import { toPrintable } from '../../../src/base/safe-text.ts';

describe('toPrintable', () => {
  it.each([
    ['an escape', '\u001b[2J', '\\u001b[2J'],
    ['a C1 control', '\u009b31m', '\\u009b31m'],
    ['the mark for Arabic letters', 'a\u061cb', 'a\\u061cb'],
    ['overrides and isolates', '\u202e\u2066', '\\u202e\\u2066'],
    ['what has no width', 'web\u200b-1\ufeff\u00ad', 'web\\u200b-1\\ufeff\\u00ad'],
    ['hidden tags', '\u{e0041}', '\\udb40\\udc41'],
    ['separators of lines', '\u2028\u2029', '\\u2028\\u2029'],
  ])('escapes %s', (_name, text, shown) => {
    expect(toPrintable(text)).toBe(shown);
    // In JSON the escape means the very same text.
    expect(JSON.parse(toPrintable(JSON.stringify(text)))).toBe(text);
  });

  it('leaves texts of any script and emoji alone', () => {
    for (const text of ['grün ✓', '東京-web-01', 'نمی‌خواهم', '👨‍👩‍👧', 'e\u0301'])
      expect(toPrintable(text)).toBe(text);
  });
});
