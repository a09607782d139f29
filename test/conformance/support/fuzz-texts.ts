import fc from 'fast-check';

/** Words that trip careless code: names of prototypes, numbers that are none, separators, limits. */
const oddWords = [
  '__proto__',
  'constructor',
  'toString',
  'null',
  'NaN',
  '0x10',
  '1.5',
  '-1',
  '9223372036854775808',
  '9'.repeat(40),
  '',
  '.',
  '../../etc/passwd',
  ';',
  '/',
  '%',
  '\\',
  'a/b',
  'true',
  '{}',
  "' or 1=1 --",
  '東京',
  '\u0000',
  '\ud800',
  '\ufeff',
  '\u202e',
  'x'.repeat(128),
  'x'.repeat(129),
  'x'.repeat(1_025),
  '👩‍👩‍👧‍👦'.repeat(30),
];

/** Any of these, each as often as its number says. */
export function oneOf<T>(...weighted: ReadonlyArray<readonly [weight: number, of: fc.Arbitrary<T>]>) {
  return fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

export const oddText: fc.Arbitrary<string> = oneOf(
  [3, fc.constantFrom(...oddWords)],
  [2, fc.string({ unit: 'binary', maxLength: 30 })],
  [1, fc.string({ maxLength: 200 })],
);

/** Any value that JSON can hold, hostile keys among it. */
export const oddJson: fc.Arbitrary<unknown> = oneOf<unknown>(
  [3, oddText],
  [2, fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger())],
  [2, fc.constantFrom(null, true, false, [], {}, -1, 0, 1.5, 1e300, -0)],
  [1, fc.array(oddText, { maxLength: 5 })],
  [1, fc.dictionary(oddText, fc.oneof(oddText, fc.integer()), { maxKeys: 5 })],
  [1, fc.jsonValue({ maxDepth: 3 })],
);

const oddSegments = ['%', '%2', '%zz', '%c0%ae', '%ED%A0%80', '%00', '%2e%2e', '%2F', '%25', '%5C'];

/** A path segment, encoded well, twice, badly, or not at all. */
export function segment(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return oneOf(
    [6, text.map(encode)],
    [1, text.map((plain) => encode(encode(plain)))],
    [1, text.map((plain) => plain.replace(/[^\x21-\x7e]|[?#]/g, ''))],
    [1, fc.constantFrom(...oddSegments)],
  );
}

/** Percent-encodes; a lone surrogate becomes the replacement character. */
function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text, 'utf8').toString('utf8'));
}

/** What may stand in a header's value. */
export const headerValue: fc.Arbitrary<string> = oddText.map((text) =>
  Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '')
    .trim(),
);
