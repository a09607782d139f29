import { describe, expect, it } from 'vitest';
import { makeRedactor } from '../../../../src/collector-api/wire/service-text.ts';

const secrets = { keys: ['k-held-out', 'short'], others: ['web1-cookie', 'a-cookie-of-16-ch'] };

describe('a name or an address that repeats a secret (P12)', () => {
  const redact = makeRedactor(secrets, 'values');

  it.each([
    ['k-held-out', '***'],
    ['host-k-held-out.example.com', 'host-***.example.com'],
    ['a-cookie-of-16-ch', '***'],
  ])('is shown without it: %s', (text, shown) => {
    expect(redact(text)).toBe(shown);
  });

  it('keeps short cookies and keys under 8 characters, by which collectors may be named (P5)', () => {
    expect(redact('web1-cookie of a short host')).toBe('web1-cookie of a short host');
  });

  it('keeps more than a message for people, which loses all of them', () => {
    expect(makeRedactor(secrets, 'words')('short web1-cookie')).toBe('*** ***');
  });
});
