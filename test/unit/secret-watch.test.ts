import { expect, it } from 'vitest';
import { takeLeaks, watchOutput } from '../support/setup/secret-watch.ts';
import { testSecrets } from '../support/test-secrets.ts';

const { night, bearerToken, redisPassword } = testSecrets;
const inBase64 = (text: string) => Buffer.from(text).toString('base64');

it.each([
  ['a key', night.accessKey, 'night.accessKey'],
  ['a token in Base64', inBase64(bearerToken), 'bearerToken, in Base64'],
  ['a sign-in', inBase64(`${night.accessId}:${night.accessKey}`), 'night, as it signs in, in Base64'],
  ['what a mask leaves', redisPassword.split('@').at(-1) ?? '', 'redisPassword, in part or encoded'],
])('the watch over what tests print finds %s, once, and does not repeat it', (_what, secret, name) => {
  watchOutput('someone', `x${secret}y`);
  const leaks = takeLeaks();
  expect(leaks).toContain(`someone shows ${name}`);
  expect(leaks.join()).not.toContain(secret);
  expect(takeLeaks()).toEqual([]);
});

it('the watch over what tests print hears the console and the streams', () => {
  // By their code: a secret that is printed to see it found would be in the output of this very run.
  // biome-ignore lint/suspicious/noConsole: looked at, not used
  for (const print of [console.log, console.error, process.stdout.write, process.stderr.write])
    expect(print.toString()).toContain('watchOutput');
});
