import { describe, expect, it } from 'vitest';
import { accountConfigsOf } from '../../../src/config/account-configs.ts';
import { makeLiveConfig, readNextConfig } from '../../../src/daemon/live-config.ts';
import { readAccountConfig, readConfig } from '../../support/config-fixtures.ts';
import { lossless } from '../../support/lossless.ts';

const file = (service: string, rest = '') =>
  readConfig(
    `service: { baseUrl: https://api.example.com/api, accessId: id, ${service} }\nrollouts: [{ name: all }]\n${rest}`,
  );
const running = lossless(accountConfigsOf(file('accessKey: first-key'))[0]);

const readNext = (from: typeof running, next: () => ReturnType<typeof file>) =>
  readNextConfig(from, next, [from.account]);

describe('a config that is reloaded', () => {
  it('names the keys that need a restart, and none of their values (P12)', () => {
    const next = file('accessKey: second-key, requestTimeout: 10s', 'history: 1d\nhttp: { port: 1 }');
    const read = readNext(running, () => next);
    expect(read).toMatchObject({
      next: { needsRestart: ['service.accessKey', 'service.requestTimeout', 'http.port', 'history'] },
    });
    expect(JSON.stringify(read)).not.toMatch(/first-key|second-key/);
    expect(readNext(running, () => file('accessKey: first-key'))).toMatchObject({
      next: { needsRestart: [] },
    });
  });

  it('applies tokens, the proxy and receivers, and later compares with these', () => {
    const next = file(
      'accessKey: first-key',
      `http: { token: token-of-sixteen-characters, trustedProxy: { addresses: [10.0.0.7] }, docs: public }
notify: [{ slack: { url: https://hooks.example.com/T0/B0 } }]`,
    );
    const read = readNext(running, () => next);
    if (read.kind === 'wrong') throw new Error(read.reason);
    const settings = ['http.docs', 'http.token', 'http.trustedProxy', 'notify'];
    expect([...read.next.settings].sort()).toEqual(settings);
    expect(read.next.needsRestart).toEqual([]);
    const live = makeLiveConfig(running);
    live.replace(read.next);
    expect(live.running().http.docs).toBe('public');
    expect(live.receivers()).toMatchObject([{ name: 'slack' }]);
    expect(readNext(live.running(), () => next)).toMatchObject({ next: { settings: [] } });
  });

  it('is refused with every mistake, as at the start', () => {
    expect(readNext(running, () => file('accessKey: key', 'histori: 1d'))).toMatchObject({
      kind: 'wrong',
      reason: expect.stringMatching(/config\.yaml:3.*histori/),
    });
  });

  it('has separate ticks when it names another service', () => {
    const versionOf = (baseUrl: string) =>
      makeLiveConfig(
        readAccountConfig(
          `service: { baseUrl: ${baseUrl}, accessId: id, accessKey: key }\nrollouts: [{ name: all }]`,
        ),
      )
        .schedules()
        .map(({ version }) => version);
    const [one, other] = [versionOf('https://api.example.com/api'), versionOf('https://api.example.org/api')];
    expect(one).not.toEqual(other);
    expect(versionOf('https://api.example.com/api')).toEqual(one);
  });

  it('of one of several accounts has the policies of that account, and names its keys', () => {
    const accounts = (secret: string) =>
      readConfig(`accounts:
  eu: { baseUrl: https://eu.example.com, accessId: id, accessKey: ${secret} }
  us: { baseUrl: https://us.example.com, accessId: id, accessKey: key }
rollouts: [{ name: all, accounts: [eu, us] }]`);
    const eu = lossless(accountConfigsOf(accounts('first-key'))[0]);
    const read = (next: () => ReturnType<typeof accounts>) => readNextConfig(eu, next, ['eu', 'us']);
    expect(read(() => accounts('second-key'))).toMatchObject({
      next: { rollouts: [{ name: 'all-eu' }], needsRestart: ['accounts.eu.accessKey'] },
    });
    const one = () => file('accessKey: key');
    expect(read(one)).toEqual({ kind: 'wrong', reason: expect.stringContaining('restart the daemon') });
  });

  it('is visible to all parts that ask for the lists', () => {
    const live = makeLiveConfig(running);
    const [all] = running.rollouts;
    const { notify: receivers, http: access } = running;
    const present = all === undefined ? [] : [{ ...all, name: 'other', schedule: '0 0 1 1 *' }];
    live.replace({ rollouts: present, receivers, access });
    expect(live.policies()).toEqual(['other']);
    expect(live.rollouts()).toMatchObject([{ name: 'other' }]);
    expect(live.forecast('all', 1)).toEqual([]);
    expect(live.forecast('other', 1)).toHaveLength(1);
  });
});
