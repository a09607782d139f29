import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJson } from '../../../src/http/json-text.ts';

const mebibyte = 1024 * 1024;

describe('readJson', () => {
  const id = '12345678901234567';

  it.each([
    ['a long string', `{"n":${id},"x":"${'y'.repeat(4 * mebibyte)}"}`, 'json'],
    ['a long string of escapes', `{"n":${id},"x":"${'\\"'.repeat(4 * mebibyte)}"}`, 'json'],
    ['a long string that is cut off', `{"n":${id},"x":"${'y'.repeat(4 * mebibyte)}`, 'other'],
    ['escapes that are cut off', `{"n":${id},"x":"${'\\"'.repeat(4 * mebibyte)}`, 'other'],
    ['many quotes', `${id}${'"'.repeat(mebibyte)}`, 'other'],
    ['many digits', `[${'1'.repeat(4 * mebibyte)}]`, 'json'],
  ] as const)('ends with %s, and not only after minutes', (_name, text, kind) => {
    expect(readJson(text).kind).toBe(kind);
  });

  it('keeps each digit of ids, and does not change digits inside a string', () => {
    const text = `{"a":${id},"b":"${id}","c":"\\\\","d":"\\"${id},","e":[-${id}, ${id}.5, 1234567890123456]}`;
    expect(readJson(text)).toEqual({
      kind: 'json',
      value: {
        a: id,
        b: id,
        c: '\\',
        d: `"${id},`,
        e: [`-${id}`, Number(`${id}.5`), 1_234_567_890_123_456],
      },
    });
  });

  it('leaves the digits of a fraction alone, however many a number has', () => {
    const text = `{"a":0.9931234567890123,"b":-0.30000000000000004,"c":1.2345678901234566e-7,"d":${id}}`;
    expect(readJson(text)).toEqual({
      kind: 'json',
      value: { a: 0.9931234567890123, b: -0.30000000000000004, c: 1.2345678901234566e-7, d: id },
    });
  });

  it('reads whatever JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // A number beyond 2^53 becomes a text, which is the point of it.
        const text = JSON.stringify(['0'.repeat(20), value], (_key, part: unknown) =>
          Number.isInteger(part) && !Number.isSafeInteger(part) ? 1 : part,
        );
        expect(readJson(text)).toEqual({ kind: 'json', value: JSON.parse(text) });
      }),
    );
  });
});
