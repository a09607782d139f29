import { describe, expect, it } from 'vitest';
import { retryAfterMsOf } from '../../../../src/collector-api/wire/service-failure.ts';

describe('retryAfterMsOf', () => {
  it.each([
    ['7', 7_000],
    [' 7 ', 7_000],
    ['999999999', 999_999_999_000],
    ['99999999999999999999', 1e23],
    ['9'.repeat(400), Number.POSITIVE_INFINITY],
    ['-5', null],
    ['1e9', null],
    ['soon', null],
    ['foo 3000', null],
    ['3000', 3_000_000],
    ['2026-11-21T00:00:20Z', null],
    ['Sat, 21 Nov 2026 00:00:20 GMT', 20_000],
    ['Saturday, 21-Nov-26 00:00:20 GMT', 20_000],
    ['Sat Nov 21 00:00:20 2026', 20_000],
    ['Tue Dec  1 00:00:00 2026', 864_000_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['Sat, 21 Nov 2026 00:00:20 +0100', null],
    ['Sat, 21 Foo 2026 00:00:20 GMT', null],
    ['Tue, 31 Feb 2027 00:00:00 GMT', null],
    ['Sat, 21 Nov 2026 24:00:00 GMT', null],
    // A leap second, which only ends of months have.
    ['Thu, 31 Dec 2026 23:59:60 GMT', 41 * 86_400_000],
  ])('reads %s', (text, expected) => {
    expect(retryAfterMsOf({ 'retry-after': text }, Date.UTC(2026, 10, 21))).toBe(expected);
  });
});
