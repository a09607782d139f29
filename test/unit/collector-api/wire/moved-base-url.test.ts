import { describe, expect, it } from 'vitest';
import { baseUrlFromLocation, mayFollow } from '../../../../src/collector-api/wire/moved-base-url.ts';

describe('baseUrlFromLocation', () => {
  const current = 'https://api.example.com/api';
  it.each([
    ['https://api.eu.example.com/api/v1/collectors?limit=1', 'https://api.eu.example.com/api'],
    ['https://api.eu.example.com/v1/collectors', 'https://api.eu.example.com'],
    ['https://api.eu.example.com/', 'https://api.eu.example.com/api'],
    ['https://api.eu.example.com', 'https://api.eu.example.com/api'],
    ['https://api.eu.example.com/api/', 'https://api.eu.example.com/api'],
    ['https://user:pass@api.eu.example.com:8443/api/v1/', 'https://api.eu.example.com:8443/api'],
    ['//api.eu.example.com/api/v1/x', 'https://api.eu.example.com/api'],
    ['/v1/collectors', 'https://api.example.com'],
    ['ftp://api.eu.example.com/', undefined],
    ['https://', undefined],
  ])('reads %s as %s', (location, base) => {
    expect(baseUrlFromLocation(location, current)).toBe(base);
  });
});

describe('mayFollow', () => {
  const from = 'https://api.example.com/api';
  it.each<[string, string[], boolean]>([
    ['https://api.eu.example.com', [], false],
    ['https://api.eu.example.com', ['api.eu.example.com'], true],
    ['https://eu.api.example.com', ['*.api.example.com'], true],
    ['https://EU.api.example.com', ['*.API.example.com'], true],
    ['https://a.b.api.example.com', ['*.api.example.com'], false],
    ['https://api.example.com', ['*.api.example.com'], true],
    ['https://api.example.com:8443', ['*.api.example.com'], false],
    ['https://example.com', ['*.example.com'], false],
    ['https://evil.com', ['*.api.example.com'], false],
    ['https://eu.api.example.com.evil.com', ['*.api.example.com'], false],
    ['https://evilXapi.example.com', ['*.api.example.com'], false],
    ['http://eu.api.example.com', ['*.api.example.com'], false],
    ['https://eu.api.example.com:8443', ['*.api.example.com'], false],
    ['https://eu.api.example.com:8443', ['*.api.example.com:8443'], true],
    ['https://eu.api.example.com:8443', ['eu.api.example.com:443'], false],
    ['https://eu.api.example.com', ['eu.api.example.com:443'], true],
  ])('to %s with %j: %s', (to, allowed, expected) => {
    expect(mayFollow({ from, to, configured: from }, allowed)).toBe(expected);
  });

  it.each([
    ['http://localhost:8081', true],
    ['http://localhost', true],
    ['http://localhost:9000', false],
    ['https://localhost', true],
    ['https://localhost:8081', true],
    ['https://localhost:80', false],
  ])('from port 8081 to %s, with no port allowed by name: %s (P12)', (to, expected) => {
    const configured = 'http://127.0.0.1:8081/api';
    expect(mayFollow({ from: 'http://localhost:9000', to, configured }, ['localhost'])).toBe(expected);
  });
});
