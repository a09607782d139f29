import { expect, it } from 'vitest';
import { hashSettings } from '../../../src/daemon/hash-settings.ts';
import { compareSettings } from '../../../src/rollout/reload/newest-config.ts';
import { readAccountConfig } from '../../support/config-fixtures.ts';

const hashesOf = (more: string, accessKey = 'an-access-key-of-64-characters') =>
  hashSettings(
    readAccountConfig(
      `service: { baseUrl: https://api.example.com/api, accessId: id, accessKey: ${accessKey} }\nrollouts: [{ name: all }]\n${more}`,
    ),
  );
const differing = (one: string, other: string) =>
  compareSettings(hashesOf(one), [
    { followsSchedule: true, account: 'a', beatAt: 0, configs: [], settings: hashesOf(other) },
  ])?.keys;

const slack = (path: string) => `notify: [{ slack: { url: https://hooks.example.com/${path} } }]`;
const token = (text: string) => `http: { token: ${text} }`;

it.each([
  ['a receiver that only one has', slack('T0'), '', ['notify']],
  ['a secret path of a receiver', slack('T0'), slack('T1'), ['notify']],
  ['a token', token('one-token-of-sixteen'), token('two-token-of-sixteen'), ['http']],
  ['the history and the installation', 'history: 1d', 'installation: eu', ['installation', 'history']],
  ['the port and the log', 'http: { port: 1 }', 'log: { level: debug }', undefined],
])('daemons differ outside of their policies in %s', (_what, one, other, keys) => {
  expect(differing(one, other)).toEqual(keys);
});

it('shows no secret, and cannot be tried out without the access key (P12)', () => {
  const config = slack('a-secret-path');
  expect(JSON.stringify(hashesOf(config))).not.toMatch(/a-secret-path|an-access-key/);
  const [one, other] = [hashesOf(config), hashesOf(config, 'another-access-key-entirely')];
  for (const [place, { hash }] of one.entries()) expect(other[place]?.hash).not.toBe(hash);
});
