import { describe, expect, it } from 'vitest';
import { makeLogger } from '../../../../src/observability/logger.ts';
import {
  describeRedis,
  redactRedisText,
  redisSecretsOf,
} from '../../../../src/redis/connection/redis-config.ts';
import { testSecrets } from '../../../support/test-secrets.ts';

const { redisPassword } = testSecrets;
const at = (url: string) => ({ url, keyPrefix: 'x' });

describe('the place of a Redis', () => {
  it.each([
    [`redis://:${redisPassword}@db.example.com:6379/2`, 'redis://db.example.com:6379/2'],
    [`rediss://ann:${encodeURIComponent(redisPassword)}@db.example.com`, 'rediss://db.example.com'],
    [`redis://:with a blank@and ${redisPassword}@[::1]:1`, 'redis://[::1]:1'],
    ['redis://alone@db.example.com', 'redis://db.example.com'],
    [`redis://db.example.com/0?password=${redisPassword}`, 'redis://db.example.com/0'],
    [`redis://a:1/${redisPassword}@db.example.com`, 'redis://a:1'],
    [`redis://ann:1#${redisPassword}@db.example.com`, 'redis://ann:1'],
    ['unix:///run/redis.sock', 'unix:///run/redis.sock'],
    ['/run/redis.sock?db=1', '/run/redis.sock'],
    [`//:${redisPassword}@db.example.com`, 'an address that is not a URL'],
    [`:${redisPassword}@db.example.com`, 'an address that is not a URL'],
  ])('contains no credentials, whatever characters they have (P12): case %#', (url, place) => {
    expect(describeRedis(at(url)) === place, `it is ${place}`).toBe(true);
  });
});

describe('a text about Redis', () => {
  const config = at(`redis://:${redisPassword}@db.example.com`);

  it('has its URL without credentials, and the password in no form (P12)', () => {
    const forms = [redisPassword, new URL(config.url).password];
    const text = redactRedisText(`${config.url} refuses ${forms.join(' and ')}`, config);
    expect(text).toBe('redis://db.example.com refuses *** and ***');
  });

  it('in the log hides a password as it is written, as the URL has it and as it is meant (P12)', () => {
    const lines: string[] = [];
    const odd = at('redis://:p%40rt one@the-other%21@db');
    const destination = { write: (line: string) => void lines.push(line) };
    const log = makeLogger({ level: 'info', secrets: redisSecretsOf(odd), destination });
    for (const form of ['p%40rt one@the-other%21', 'p%40rt%20one%40the-other%21', 'p@rt one@the-other!'])
      log.write('info', { event: 'x.y', reason: form });
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line).not.toContain('other');
  });
});
