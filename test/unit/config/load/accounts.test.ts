import { describe, expect, it } from 'vitest';
import {
  accountConfigOf,
  accountConfigsOf,
  accountKeyPrefix,
} from '../../../../src/config/account-configs.ts';
import { renderEffectiveConfig } from '../../../../src/config/show/effective-config.ts';
import { findRisks } from '../../../../src/config/show/find-risks.ts';
import { problemsIn, readConfig } from '../../../support/config-fixtures.ts';

const account = (name: string, more = '') =>
  `  ${name}: { baseUrl: https://${name}.example.com, accessId: ${name}-id, accessKey: ${name}-key${more} }`;
const twoAccounts = ['accounts:', account('eu'), account('us', ', requestsPerSecond: 2')].join('\n');
const fileWith = (rollouts: string, accounts = twoAccounts) => `${accounts}\nrollouts: ${rollouts}\n`;

describe('a config with several accounts', () => {
  it('gives each account its service and its policies', () => {
    const config = readConfig(
      fileWith('[{ name: web, account: us }, { name: db, account: eu, concurrency: 3 }]'),
    );
    expect(
      accountConfigsOf(config).map((each) => ({
        account: each.account,
        baseUrl: each.service.baseUrl,
        rate: each.service.requestsPerSecond,
        policies: each.rollouts.map(({ name }) => name),
      })),
    ).toEqual([
      { account: 'eu', baseUrl: 'https://eu.example.com', rate: 4, policies: ['db'] },
      { account: 'us', baseUrl: 'https://us.example.com', rate: 2, policies: ['web'] },
    ]);
    expect(accountConfigOf(config, 'db').account).toBe('eu');
  });

  it('makes one policy for each account of a policy with several, alike in all but the name', () => {
    const config = readConfig(fileWith('[{ name: web, accounts: [us, eu], concurrency: 7 }]'));
    expect(config.rollouts.map(({ name, concurrency }) => [name, concurrency])).toEqual([
      ['web-us', 7],
      ['web-eu', 7],
    ]);
    expect(config.rollouts.every((policy) => !('account' in policy) && !('accounts' in policy))).toBe(true);
    expect(accountConfigOf(config, 'web-eu').account).toBe('eu');
  });

  it('needs no account in a policy when there is one', () => {
    const config = readConfig(fileWith('[{ name: web }]', `accounts:\n${account('eu')}`));
    expect(accountConfigOf(config, 'web').account).toBe('eu');
  });

  it('keeps the keys of each account apart in Redis, and one account those of a former service', () => {
    const accounts = ['accounts:', account('eu', ', keyPrefix: upwave'), account('us')].join('\n');
    const config = readConfig(fileWith('[{ name: web, accounts: [eu, us] }]', accounts));
    expect(accountConfigsOf(config).map((each) => accountKeyPrefix(each, 'upwave'))).toEqual([
      'upwave',
      'upwave:us',
    ]);
  });

  it('is printed so that it reads as the same', () => {
    const config = readConfig(fileWith('[{ name: web, accounts: [eu, us] }]'));
    const printed = renderEffectiveConfig(config);
    expect(printed).not.toContain('eu-key');
    const again = readConfig(printed);
    expect(again.rollouts).toEqual(config.rollouts);
    expect(accountConfigOf(again, 'web-us').account).toBe('us');
  });

  it('is warned of for each account whose key goes without TLS', () => {
    const accounts = twoAccounts.replace('https://us', 'http://us');
    const config = readConfig(fileWith('[{ name: web, accounts: [eu, us] }]', accounts));
    expect(findRisks(config)).toEqual([
      'the access key goes to accounts.us.baseUrl without TLS; write https://',
    ]);
  });
});

describe('accounts and policies that do not fit', () => {
  const service = 'service: { baseUrl: https://h, accessId: i, accessKey: k }\n';
  it.each<readonly [text: string, problem: RegExp]>([
    [
      `${service}${fileWith('[{ name: web, accounts: [eu, us] }]')}`,
      / accounts: stands beside service; keep one/,
    ],
    ['rollouts: [{ name: web }]\n', / service: is missing; give service, or accounts for several/],
    [
      fileWith('[{ name: web, accounts: [eu, us] }]', 'accounts: {}'),
      / accounts: is empty; give at least one/,
    ],
    [
      fileWith('[{ name: web }]'),
      / rollouts\[0\]: names no account, and there are several; give account: eu/,
    ],
    [
      fileWith('[{ name: web, accounts: [eu, uss] }]'),
      / rollouts\[0\]\.accounts\[1\]: there is no account "uss"; did you mean "us"\?/,
    ],
    [
      fileWith('[{ name: web, account: mars }]'),
      / rollouts\[0\]\.account: there is no account "mars"; there are eu, us/,
    ],
    [fileWith('[{ name: web, account: eu }]'), / accounts\.us: no policy uses this account; remove it/],
    [
      fileWith('[{ name: web, account: eu, accounts: [us] }]'),
      / rollouts\[0\]\.accounts: stands beside account; keep one/,
    ],
    [
      `${service}rollouts: [{ name: web, account: eu }]\n`,
      / rollouts\[0\]\.account: there are no accounts, only service/,
    ],
    [
      fileWith('[{ name: web, accounts: [eu, us] }, { name: web-us, account: us }]'),
      / rollouts\[1\]\.name: the policy "web" is called so in account us/,
    ],
    [
      fileWith(
        '[{ name: web, accounts: [eu, us] }]',
        ['accounts:', account('eu', ', keyPrefix: a'), account('us', ', keyPrefix: a')].join('\n'),
      ),
      / accounts\.us\.keyPrefix: another account has this prefix/,
    ],
    [
      fileWith('[{ name: web, accounts: [eu, us] }]', twoAccounts.replace('accessId: us-id, ', '')),
      / accounts\.us\.accessId: is missing/,
    ],
  ])('are refused: %s', (text, problem) => {
    expect(problemsIn(text)).toEqual([expect.stringMatching(problem)]);
  });
});
