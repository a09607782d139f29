import { describe, expect, it } from 'vitest';
import {
  accountConfigOf,
  accountConfigsOf,
  accountKeyPrefix,
} from '../../../../src/config/account-configs.ts';
import { renderEffectiveConfig } from '../../../../src/config/show/effective-config.ts';
import { findRisks } from '../../../../src/config/show/find-risks.ts';
import { problemCases, problemsIn, readConfig } from '../../../support/config-fixtures.ts';

const account = (name: string, more = '') =>
  `  ${name}: { baseUrl: https://${name}.example.com, accessId: ${name}-id, accessKey: ${name}-long-key${more} }`;
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
    const config = readConfig(`learnFrom: accounts\n${fileWith('[{ name: web, accounts: [eu, us] }]')}`);
    const printed = renderEffectiveConfig(config);
    expect(printed).not.toContain('eu-key');
    const again = readConfig(printed);
    expect(again.rollouts).toEqual(config.rollouts);
    expect([
      again.learnsFromAccounts,
      readConfig(fileWith('[{ name: web, account: us }]', `accounts:\n${account('us')}`)).learnsFromAccounts,
    ]).toEqual([true, false]);
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
  const both = '[{ name: web, accounts: [eu, us] }]';
  const service = 'service: { baseUrl: https://h, accessId: i, accessKey: k }\n';
  const samePrefix = ['eu', 'us'].map((name) => account(name, ', keyPrefix: a'));

  it.each([
    ['accounts: cannot be used with service; keep one', `${service}${fileWith(both)}`],
    [
      'learnFrom: needs accounts; there is only',
      `${service}learnFrom: accounts\nrollouts: [{ name: web }]\n`,
    ],
    ['service: is missing; give service, or accounts for several', 'rollouts: [{ name: web }]\n'],
    ['accounts: is empty; give at least one', fileWith(both, 'accounts: {}')],
    ['there are no accounts, only service', `${service}rollouts: [{ name: web, account: eu }]\n`],
    [
      'us.keyPrefix: another account has this prefix',
      fileWith(both, ['accounts:', ...samePrefix].join('\n')),
    ],
    ['us.accessId: is missing', fileWith(both, twoAccounts.replace('accessId: us-id, ', ''))],
  ])('are refused: %s', (problem, text) => {
    expect(problemsIn(text)).toEqual([expect.stringContaining(problem)]);
  });

  it.each(
    problemCases(`
[{ name: web }]
  → 4:12: rollouts[0]: names no account, and there are several; give account: eu, or accounts
[{ name: web, accounts: [eu, uss] }]
  → 4:40: rollouts[0].accounts[1]: there is no account "uss"; did you mean "us"?
[{ name: web, account: mars }] → 4:34: rollouts[0].account: there is no account "mars"; there are eu, us
[{ name: web, account: eu }]
  → 3:3: accounts.us: no policy uses this account; remove it, or give a policy account: us
[{ name: web, account: eu, accounts: [us] }]
  → 4:38: rollouts[0].accounts: cannot be used with account; keep one of them
[{ name: web, accounts: [eu, us] }, { name: web-us, account: us }]
  → 4:55: rollouts[1].name: the policy "web" is called so in account us; names must be unique
`),
  )('are refused in a policy: %s', (rollouts, problem) => {
    expect(problemsIn(fileWith(rollouts))).toEqual([`config.yaml:${problem}`]);
  });
});
