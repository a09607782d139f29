import { describe, expect, it } from 'vitest';
import { chooseRedis, secretsOf } from '../../../../src/cli/shell/choose-redis.ts';
import { CommandFailure } from '../../../../src/cli/shell/command.ts';
import { readConfig, withSection } from '../../../support/config-fixtures.ts';

describe('another Redis on the command line', () => {
  it("is reached with the config's certificate authorities, because there is no option for them", () => {
    const { redis, ...config } = readConfig(withSection('redis: { url: "rediss://a", keyPrefix: mine }'));
    const own = redis && { ...redis, ca: 'PEM' };
    expect(chooseRedis({ ...config, redis: own }, 'rediss://b:1')).toEqual({
      keyPrefix: 'mine',
      url: 'rediss://b:1',
      ca: 'PEM',
    });
  });
});

describe('a password for Redis', () => {
  const config = readConfig(withSection('redis: { keyPrefix: mine }'.replace('{', '{ url: "redis://a",')));

  it('is refused on the command line, where the process list shows it', () => {
    const choose = () => chooseRedis(config, 'redis://:Rr-thePassword@db');
    expect(choose).toThrow(CommandFailure);
    expect(choose).not.toThrow(/Rr-thePassword/);
    expect(chooseRedis(config, 'redis://db:1')).toEqual({ keyPrefix: 'mine', url: 'redis://db:1' });
  });

  it.each([
    'redis://h?password=Rr-thePassword',
    '/run/redis.sock?password=Rr-thePassword',
    'redis://h?sentinel%50assword=Rr-thePassword',
    ':Rr-thePassword@db',
    '//:Rr-thePassword@db',
    'redis://a:1/Rr-thePassword@db',
    'redis://a:1#Rr-thePassword@db',
  ])('is refused there in every form that the client accepts, and not repeated: case %#', (url) => {
    const choose = () => chooseRedis(config, url);
    expect(choose).toThrow(CommandFailure);
    expect(choose).not.toThrow(/Rr-thePassword/);
  });

  it.each([
    ['p%40ss-word', ['p%40ss-word', 'p@ss-word']],
    ['100%-sure', ['100%-sure']],
  ])('is kept out of the log in its encoded and decoded form: %s', (written, secrets) => {
    const known = secretsOf(config, { keyPrefix: 'x', url: `redis://u:${written}@db` });
    expect(known).toEqual(expect.arrayContaining(secrets));
  });
});
