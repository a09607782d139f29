import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { accountConfigsOf } from '../../../../src/config/account-configs.ts';
import { loadConfig } from '../../../../src/config/load/load-config.ts';
import { effectivePolicy } from '../../../../src/config/show/effective-policy.ts';
import { findRisks } from '../../../../src/config/show/find-risks.ts';
import { findOverlappingPolicies } from '../../../../src/config/show/overlapping-policies.ts';
import { tooQuickText } from '../../../../src/rehearsal/result/assumed-text.ts';
import { aFolder } from '../../../support/a-folder.ts';
import {
  problemsIn,
  problemsOf,
  readConfig,
  withRollout,
  withSection,
  withService,
} from '../../../support/config-fixtures.ts';

const examples = new URL('../../../../config/', import.meta.url);
const environment = { UPWAVE_ACCESS_ID: 'the-id', UPWAVE_ACCESS_KEY: 'the-key' };
const example = (name: string) => loadConfig(new URL(name, examples).pathname, environment);
const policyOf = (yaml: string) => readConfig(withRollout(yaml)).rollouts[0];

const configFiles = readdirSync(examples).filter(
  (name) => name.endsWith('.yaml') && /^rollouts:$/m.test(readFileSync(new URL(name, examples), 'utf8')),
);

describe('the example configs', () => {
  it.each(configFiles)('%s has no warning, and waits for two heartbeats', (name) => {
    const text = readFileSync(new URL(name, examples), 'utf8');
    const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, variable = '']) => variable);
    const variables = names.map((key) => [key, key.endsWith('URL') ? 'http://127.0.0.1/api' : `the-${key}`]);
    const config = loadConfig(new URL(name, examples).pathname, Object.fromEntries(variables));
    expect(accountConfigsOf(config).flatMap(({ rollouts }) => findOverlappingPolicies(rollouts))).toEqual([]);
    expect(findRisks(config)).toEqual([]);
    // Without two heartbeats of time, every success counts as lost, and the canary fails.
    expect(config.rollouts.flatMap((policy) => tooQuickText(policy) ?? [])).toEqual([]);
  });

  it('accounts.yaml has a policy in two accounts, and one in one', () => {
    const keys = [
      'UPWAVE_EU_ACCESS_ID',
      'UPWAVE_EU_ACCESS_KEY',
      'UPWAVE_US_ACCESS_ID',
      'UPWAVE_US_ACCESS_KEY',
    ];
    const path = new URL('accounts.yaml', examples).pathname;
    const { accounts } = loadConfig(path, Object.fromEntries(keys.map((key) => [key, key.toLowerCase()])));
    expect(accounts?.map(({ name, policies }) => [name, policies])).toEqual([
      ['eu', ['production-eu', 'development']],
      ['us', ['production-us']],
    ]);
  });

  it('minimal.yaml has a careful policy by defaults alone', () => {
    const { service, redis, http, log, rollouts } = example('minimal.yaml');
    expect(service?.accessKey.reveal()).toBe('the-key');
    expect(service).toMatchObject({ requestsPerSecond: 4, concurrentRequests: 10, requestTimeoutMs: 30_000 });
    expect([redis, http.host, log]).toEqual([undefined, '127.0.0.1', { level: 'info' }]);
    expect(rollouts).toMatchObject([
      {
        name: 'all',
        select: { include: {}, exclude: [{ osName: ['Mac*'] }, { name: ['collector_container-*'] }] },
        target: { version: 'latest', allowDowngrade: false, supersede: false },
        spreadBy: ['osName', 'osArch', 'collectorVersion'],
        waves: [
          {
            name: 'canary',
            size: { kind: 'perStratum', count: 1 },
            maxFailures: { kind: 'count', count: 0 },
          },
          { name: 'early', size: percent(10), soakMs: 3_600_000, maxFailures: percent(1) },
          { name: 'rest', size: percent(100), soakMs: 0, maxFailures: percent(2) },
        ],
        onBreach: 'hold',
        upgrade: { deadlineMs: 2_100_000, verifyWithinMs: 600_000, expectMs: 300_000 },
      },
    ]);
  });

  it('production.yaml shows every key of a policy', () => {
    const [production] = example('production.yaml').rollouts;
    expect(production?.waves.map(({ gates }) => gates.map(({ kind }) => kind).join())).toEqual([
      '',
      '',
      'prometheus,webhook',
      '',
      '',
    ]);
    const keys = example('minimal.yaml').rollouts.flatMap((policy) => Object.keys(effectivePolicy(policy)));
    const text = readFileSync(new URL('production.yaml', examples), 'utf8');
    expect(keys.filter((key) => !new RegExp(`^ {4}(- )?${key}:|^ {2}- ${key}:`, 'm').test(text))).toEqual([]);
  });
});

describe('the installation', () => {
  it('keeps its history for 90 days, and has no name, unless the file says otherwise', () => {
    const { historyMs, installation } = readConfig(withSection(''));
    expect([historyMs, installation]).toEqual([90 * 86_400_000, undefined]);
    const given = readConfig(withSection('history: 24h\ninstallation: production'));
    expect(given).toMatchObject({ historyMs: 86_400_000, installation: 'production' });
  });
});

describe('the service section', () => {
  it.each([
    ['https://api.example.com/api', 'https://api.example.com/api'],
    ['https://api.example.com/api/', 'https://api.example.com/api'],
    ['https://api.example.com/api/v1', 'https://api.example.com/api'],
    ['https://api.example.com/api/v1/', 'https://api.example.com/api'],
    ['https://api.example.com/v1', 'https://api.example.com'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ])('reads the base URL %s as %s', (written, read) => {
    const config = readConfig(withService(`service: { baseUrl: "${written}", accessId: i, accessKey: k }`));
    expect(config.service?.baseUrl).toBe(read);
  });

  it('reads the share of the budget as a fraction, and hosts in small letters', () => {
    const more = 'budgetShare: 80%, allowedHosts: ["*.API.example.com"]';
    const { service } = readConfig(
      withService(`service: { baseUrl: http://h, accessId: i, accessKey: k, ${more} }`),
    );
    expect(service).toMatchObject({ budgetShare: 0.8, allowedHosts: ['*.api.example.com'] });
  });
});

describe('the redis section', () => {
  const redisOf = (yaml: string) => readConfig(withSection(`redis: { ${yaml} }`)).redis;
  const urlOf = (yaml: string) => {
    const redis = redisOf(yaml);
    return redis?.kind === 'single' ? redis.url.reveal() : '';
  };

  it.each(['redis://localhost', 'rediss://u:p@h:6380/2', 'unix:///run/redis.sock', '/run/redis.sock'])(
    'takes %s',
    (url) => {
      expect(redisOf(`url: "${url}"`)).toMatchObject({ kind: 'single', keyPrefix: 'upwave' });
      expect(urlOf(`url: "${url}"`)).toBe(url);
    },
  );

  it('puts a password that is given beside the URL into it', () => {
    const url = new URL(urlOf('url: "redis://u@h:6379/1", password: "p@%/:"'));
    expect(url).toMatchObject({ username: 'u', host: 'h:6379', pathname: '/1' });
    expect(decodeURIComponent(url.password)).toBe('p@%/:');
  });

  it('takes sentinels with the name of their group, and the nodes of a cluster', () => {
    const sentinels = 'sentinels: [a:1, "[::1]:2"], name: main, tls: true, keyPrefix: k';
    expect(redisOf(sentinels)).toMatchObject({
      kind: 'sentinel',
      sentinels: [
        { host: 'a', port: 1 },
        { host: '::1', port: 2 },
      ],
      name: 'main',
      tls: true,
      keyPrefix: 'k',
    });
    const cluster = redisOf('cluster: [a:1], username: u, password: p');
    expect(cluster).toMatchObject({ nodes: [{ host: 'a', port: 1 }], username: 'u', tls: false });
    expect(cluster?.kind === 'cluster' && cluster.password?.reveal()).toBe('p');
  });
});

describe('a rollout', () => {
  it('reads scalars and lists of a selector alike', () => {
    const texts = 'name: a*, category: [b, /^c$/i], version: ">=19.1-1 <19.2"';
    const others = 'id: 7, fields: { team: x, 1: [y, z] }, ephemeral: true';
    expect(policyOf(`select: { include: { ${texts}, ${others} } }`)?.select.include).toEqual({
      name: ['a*'],
      category: ['b', '/^c$/i'],
      id: [7],
      version: ['>=19.1-1 <19.2'],
      fields: { team: ['x'], 1: ['y', 'z'] },
      ephemeral: true,
    });
  });

  it.each([
    ['[]', []],
    ['[{ id: [1] }]', [{ id: [1] }]],
  ])('lets a given exclude replace the default: %s', (exclude, read) => {
    expect(policyOf(`select: { exclude: ${exclude} }`)?.select.exclude).toEqual(read);
  });

  it('fills in what a wave leaves out: soak 30m but for the last, 1% failures, the rest of the plan', () => {
    const usual = { maxFailures: percent(1), approval: false, gates: [] };
    expect(policyOf('waves: [{ name: a, size: 3 }, { name: b }]')?.waves).toEqual([
      { name: 'a', size: { kind: 'count', count: 3 }, soakMs: 1_800_000, ...usual },
      { name: 'b', size: percent(100), soakMs: 0, ...usual },
    ]);
  });
});

describe('the environment', () => {
  it('can be used several times, and inside any text', () => {
    const text = 'service: { baseUrl: "https://${HOST}/${PATH_}", accessId: "${ID}", accessKey: k }';
    const { service } = readConfig(withService(text), { HOST: 'h.example.com', PATH_: 'api', ID: '123' });
    expect(service?.baseUrl).toBe('https://h.example.com/api');
    expect(service?.accessId.reveal()).toBe('123');
  });

  it('can be used for numbers and booleans', () => {
    const text = withSection('http: { port: "${PORT}" }\nredis: { cluster: [a:1], tls: "${TLS}" }');
    const config = readConfig(text, { PORT: '9000', TLS: 'true' });
    expect(config.http.port).toBe(9_000);
    expect(config.redis).toMatchObject({ tls: true });
    const ids = readConfig(withRollout('select: { include: { id: ["${A}", 2] } }'), { A: '1' });
    expect(ids.rollouts[0]?.select.include.id).toEqual([1, 2]);
  });

  it('is not looked for behind $${, nor in what a variable holds', () => {
    const text = withRollout('select: { include: { name: "$${A}", category: "${A}" } }');
    expect(readConfig(text, { A: '${B}' }).rollouts[0]?.select.include).toEqual({
      name: ['${A}'],
      category: ['${B}'],
    });
  });

  it('must have every variable of the file, and no other problem is reported for that place', () => {
    expect(problemsIn(withRollout('timeZone: ${ZONE}'))).toEqual([
      'config.yaml:4:15: rollouts[0].timeZone: the environment variable ZONE is not set; set it, or write the value here',
    ]);
    expect(problemsIn(withRollout('timeZone: ${toString}'))[0]).toContain('toString is not set');
  });

  it.each(['${}', '${A:-b}', '${A', '${1A}'])('refuses %s', (written) => {
    const [problem] = problemsIn(withRollout(`timeZone: "${written}"`));
    expect(problem).toContain('is not an environment variable; write ${NAME}, or $${ for a literal ${');
  });

  it('does not show its values in problems', () => {
    const [problem] = problemsIn(withRollout('timeZone: ${KEY}'), { KEY: 'hunter2' });
    expect(problem).toContain('"${KEY}" is not an IANA time zone');
    expect(problem).not.toContain('hunter2');
  });
});

describe('secrets in files', () => {
  let folder: string;
  beforeEach(() => {
    folder = aFolder();
  });
  const load = (yaml: string) => {
    const path = join(folder, 'c.yaml');
    writeFileSync(path, yaml);
    return loadConfig(path, environment);
  };
  const withKeyFile = (key: string) =>
    withService(`service: { baseUrl: http://h, accessIdFile: id, accessKeyFile: ${key} }`);

  it('are found beside the config file, without their last line break', () => {
    writeFileSync(join(folder, 'id'), 'from-file\r\n');
    writeFileSync(join(folder, 'key'), 'key-from-file\n');
    const { service } = load(withKeyFile('key'));
    expect(service?.accessId.reveal()).toBe('from-file');
    expect(service?.accessKey.reveal()).toBe('key-from-file');
  });

  it('that cannot be read are all reported with place and reason', () => {
    writeFileSync(join(folder, 'id'), 'a:b');
    const problems = problemsOf(() => load(`${withKeyFile('nowhere')}http: { tokenFile: . }\nlogs: {}`));
    expect(
      problems.map((problem) =>
        problem.replace(/^.*c\.yaml:/, '').replace(/can't take the secret from /, ''),
      ),
    ).toEqual([
      expect.stringMatching(/^1:\d+: service\.accessIdFile: "id": it holds/),
      expect.stringMatching(/^1:\d+: service\.accessKeyFile: "nowhere": there is no such file$/),
      expect.stringMatching(/^3:20: http\.tokenFile: "\.": this is a directory/),
      '4:1: logs: unknown key "logs"; did you mean "log"?',
    ]);
  });

  it('must hold something', () => {
    writeFileSync(join(folder, 'id'), '\n');
    writeFileSync(join(folder, 'key'), 'two\nlines');
    expect(problemsOf(() => load(withKeyFile('key')))).toEqual([
      expect.stringContaining('the file is empty'),
      expect.stringContaining('a line break'),
    ]);
  });

  it('that are the token are not so short that they can be guessed', () => {
    writeFileSync(join(folder, 'short'), 'fifteen-letters\n');
    writeFileSync(join(folder, 'long'), 'sixteen--letters\n');
    const withToken = (file: string) => `http: { tokenFile: ${file} }\n${withSection('')}`;
    expect(load(withToken('long')).http.token?.reveal()).toBe('sixteen--letters');
    const problems = problemsOf(() => load(withToken('short')));
    expect(problems).toEqual([expect.stringContaining('from "short": it is shorter than 16 characters')]);
    expect(problems.join()).not.toContain('fifteen');
    const named = (file: string) =>
      `http: { tokens: [{ name: mia, role: viewer, tokenFile: ${file} }] }\n${withSection('')}`;
    const { http, secretFiles } = load(named('long'));
    expect(http.tokens).toEqual([{ name: 'mia', role: 'viewer', token: expect.anything() }]);
    expect(http.tokens[0]?.token.reveal()).toBe('sixteen--letters');
    expect(secretFiles).toEqual([join(folder, 'long')]);
    expect(problemsOf(() => load(named('short'))).join()).toContain('http.tokens[0].tokenFile');
  });

  it('appear nowhere when the config is printed', () => {
    const text = `service: { baseUrl: http://h, accessId: hunter2a, accessKey: hunter2b }
redis: { url: "redis://u@h", password: hunter2d }
http: { host: 0.0.0.0, token: "hunter2e-and-more" }
rollouts: [{ name: all }]`;
    const config = readConfig(text);
    const accessKey = config.service?.accessKey ?? new Secret('');
    for (const shown of [
      inspect(config, { depth: 9, showHidden: true }),
      JSON.stringify(config),
      String(accessKey),
      inspect(Object.assign({}, accessKey)),
      JSON.stringify(Object.entries(accessKey)),
    ]) {
      expect(shown).not.toContain('hunter2');
    }
    expect(JSON.stringify(config)).toContain('"***"');
  });
});

function percent(size: number) {
  return { kind: 'percent', percent: size };
}
