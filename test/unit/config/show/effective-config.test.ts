import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { formatDuration } from '../../../../src/base/time.ts';
import type { Config } from '../../../../src/config/config.ts';
import { effectiveConfig, renderEffectiveConfig } from '../../../../src/config/show/effective-config.ts';
import { writeDuration } from '../../../../src/config/show/effective-policy.ts';
import { maskedUrl } from '../../../../src/config/show/masked-urls.ts';
import { readConfig, withRollout, withSection } from '../../../support/config-fixtures.ts';

const production = readFileSync(new URL('../../../../config/production.yaml', import.meta.url), 'utf8');
/** Its webhook's path, which is not printed, as it is printed. */
const printable = production.replace('changes.example.com/upwave', 'changes.example.com/***');
const secrets = {
  id: 'suTheAccessId',
  key: 'Zz9-theAccessKey',
  token: 'Tt-theToken-0123',
  redis: 'Rr-thePassword',
};
const environment = { UPWAVE_ACCESS_ID: secrets.id, UPWAVE_ACCESS_KEY: secrets.key };

/** What a config means: the same for two of which one was printed by the other, secrets aside. */
const meaningOf = (config: Config) => JSON.parse(JSON.stringify(config));
const again = (config: Config) => readConfig(renderEffectiveConfig(config));

const withNames = (names: string) => withRollout(`select: { include: { name: [${names}] } }`);

describe('the effective config', () => {
  const gate = '{ webhook: { url: "https://x.example" }, name: b, dryRun: true }';
  const fromFiles = '{ webhook: { urlFile: /run/url, caFile: /run/own.pem } }';
  it.each([
    ['the production example', printable],
    ['defaults alone', withSection('')],
    ['a cluster', withSection('redis: { cluster: ["a:1", "[::1]:2"], username: u, password: p, tls: true }')],
    ['sentinels', withSection('redis: { sentinels: ["a:1"], name: main, keyPrefix: other }')],
    ['a share that no float holds exactly', printable.replace('80%', '7.3%')],
    ['odd durations', withRollout('upgrade: { expect: 90s, deadline: 3600001ms }\ndefer: { upTo: 1.5h }')],
    ['a whole day', withRollout('windows: [{ days: sun, from: "00:00", to: "24:00" }]')],
    ['texts that YAML would read otherwise', withNames('"yes", "1e3", "*"')],
    ['a directory for reports', withSection('report: { directory: reports, formats: [md] }')],
    ['what looks like a variable', withNames('"$${HOME}"')],
    ['gates', withRollout(`waves:\n- { name: a, size: 1, gates: [${gate}, ${fromFiles}] }\n- { name: c }`)],
  ])('reads as it was: %s', (_name, text) => {
    const config = readConfig(text, environment);
    expect(meaningOf(again(config))).toEqual(meaningOf(config));
  });

  it('is in the form of the file, with what the file leaves out', () => {
    expect(effectiveConfig(readConfig(withSection('')))).toMatchObject({
      service: { baseUrl: 'https://api.example.com/api', requestsPerSecond: 4, budgetShare: '100%' },
      http: { host: '127.0.0.1', port: 9464 },
      history: '90d',
      rollouts: [
        {
          name: 'all',
          schedule: '*/15 * * * *',
          target: { version: 'latest', minimumAge: '0s' },
          waves: [{ name: 'canary', size: '1 per stratum', soak: '30m', maxFailures: '0' }, {}, {}],
          retry: { maxAttempts: 3, backoff: { initial: '2m', factor: 3, max: '1h', jitter: 0.2 } },
        },
      ],
    });
  });

  it('shows no secret, wherever it came from (P12)', () => {
    const text = `service: { baseUrl: https://api.example.com, accessId: "\${UPWAVE_ACCESS_ID}", accessKey: "\${UPWAVE_ACCESS_KEY}" }
redis: { url: "redis://user:${secrets.redis}@db.example.com:6379/1" }
http: { token: ${secrets.token}, tokens: [{ name: mia, role: viewer, token: ${secrets.token}2 }] }
rollouts:
  - name: all
    waves: [{ name: a, size: 1, gates: [{ webhook: { url: "https://x.example/hook/Qq-theCaller" } }] }, { name: b }]`;
    const printed = renderEffectiveConfig(readConfig(text, environment));
    for (const secret of [...Object.values(secrets), 'Qq-theCaller']) expect(printed).not.toContain(secret);
    expect(parse(printed)).toMatchObject({
      service: { accessId: '***', accessKey: '***' },
      redis: { url: 'redis://user:***@db.example.com:6379/1' },
      http: { token: '***', tokens: [{ name: 'mia', role: 'viewer', token: '***' }] },
    });
    expect(printed).toContain('https://x.example/***');
  });
});

describe('maskedUrl', () => {
  it.each([
    ['redis://127.0.0.1:6379', 'redis://127.0.0.1:6379'],
    ['redis://:pw@host:6379/2', 'redis://:***@host:6379/2'],
    ['rediss://user:p%40w@host', 'rediss://user:***@host'],
    ['redis://alone@host', 'redis://***@host'],
    ['https://x.example/a?b=c&b=d&e=f', 'https://x.example/a?b=***&e=***'],
    ['unix:///run/redis.sock', 'unix:///run/redis.sock'],
    ['/run/redis.sock', '/run/redis.sock'],
  ])('shows %s as %s', (url, shown) => {
    expect(maskedUrl(url)).toBe(shown);
  });
});

describe('writeDuration', () => {
  it.each([
    [0, '0s'],
    [1, '1ms'],
    [1_500, '1500ms'],
    [90_000, '90s'],
    [5_400_000, '90m'],
    [7_200_000, '2h'],
    [7 * 86_400_000, '7d'],
  ])('writes %i ms as %s, which loses nothing', (durationMs, text) => {
    expect(writeDuration(durationMs)).toBe(text);
    // What people are shown has two units at most.
    expect(formatDuration(90_061_001)).toBe('1d1h');
  });
});
