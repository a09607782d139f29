import { afterEach, describe, expect, it } from 'vitest';
import { takeLeaks, watchOutput } from '../support/setup/secret-watch.ts';
import { testSecrets } from '../support/test-secrets.ts';

const { night, bearerToken, redisPassword } = testSecrets;

/** What a command would print must not fail this file by itself. */
function leaksOf(text: string): readonly string[] {
  watchOutput('someone', text);
  return takeLeaks();
}

describe('the watch over what tests print', () => {
  // A leak that a test here did not expect must not be hidden from the end of the file.
  afterEach(() => expect(takeLeaks()).toEqual([]));

  it.each([
    ['a key', night.accessKey, 'someone shows night.accessKey'],
    [
      'a token in Base64',
      Buffer.from(bearerToken).toString('base64'),
      'someone shows bearerToken, in Base64',
    ],
    [
      'a sign-in',
      Buffer.from(`${night.accessId}:${night.accessKey}`).toString('base64'),
      'someone shows night, as it signs in, in Base64',
    ],
    [
      'what a mask up to the first @ leaves of a password',
      redisPassword.slice(redisPassword.indexOf('@') + 1),
      'someone shows redisPassword, in part or encoded',
    ],
  ])('finds %s', (_name, secret, leak) => {
    expect(leaksOf(`x${secret}y`)).toContain(leak);
    expect(leaksOf(`x${secret}y`).join()).not.toContain(secret);
  });

  it('finds nothing in other words, and not twice what was taken', () => {
    expect(leaksOf('accessKey: ***')).toEqual([]);
    leaksOf(bearerToken);
    expect(takeLeaks()).toEqual([]);
  });

  it('hears what is written to the console and to the streams', () => {
    // By their code: a secret that is printed to see it found would be in the output of this very run.
    // biome-ignore lint/suspicious/noConsole: looked at, not used
    for (const print of [console.log, console.error, process.stdout.write, process.stderr.write])
      expect(print.toString()).toContain('watchOutput');
  });
});
