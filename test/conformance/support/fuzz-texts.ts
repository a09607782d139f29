import fc from 'fast-check';

/** Words that trip careless code: names of prototypes, numbers that are none, separators, limits. */
const oddWords = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '-0',
  '1e3',
  '0x10',
  '007',
  '1.5',
  '-1',
  '9007199254740993',
  '9223372036854775808',
  '9'.repeat(40),
  '',
  ' ',
  '.',
  '..',
  '../../etc/passwd',
  ';',
  '/',
  '%',
  '\\',
  '%00',
  'a/b',
  'a.b',
  'true',
  '[]',
  '{}',
  '*',
  '$where',
  "' or 1=1 --",
  '<script>',
  '東京',
  'Zürich',
  '\u0000',
  '\ud800',
  '\ufeff',
  '\u202e',
  'x'.repeat(128),
  'x'.repeat(129),
  'x'.repeat(1_025),
  '👩‍👩‍👧‍👦'.repeat(30),
];

export const oddText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...oddWords) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 200 }) },
);

/** Any value that JSON can hold, hostile keys among it. */
export const oddJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: oddText },
  { weight: 2, arbitrary: fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger()) },
  { weight: 2, arbitrary: fc.constantFrom(null, true, false, [], {}, -1, 0, 1.5, 1e300, -0) },
  { weight: 1, arbitrary: fc.array(oddText, { maxLength: 5 }) },
  { weight: 1, arbitrary: fc.dictionary(oddText, fc.oneof(oddText, fc.integer()), { maxKeys: 5 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** A path segment, encoded well, twice, badly, or not at all. */
export function segment(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: text.map(encode) },
    { weight: 1, arbitrary: text.map((plain) => encode(encode(plain))) },
    { weight: 1, arbitrary: text.map((plain) => plain.replace(/[^\x21-\x7e]|[?#]/g, '')) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '%',
        '%2',
        '%zz',
        '%c0%ae',
        '%ED%A0%80',
        '%00',
        '%2e%2e',
        '%2F',
        '%25',
        '%5C',
      ),
    },
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
