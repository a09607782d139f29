import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../src/config/load/load-config.ts';
import {
  problemsOf,
  readConfig,
  withRollout,
  withSection,
  withService,
} from '../../../support/config-fixtures.ts';

const examples = new URL('../../../../config/', import.meta.url);
/** What a wave has that needs no operator and no gate. */
const withoutQuestions = { approval: false, gates: [] };
const environment = { UPWAVE_ACCESS_ID: 'the-id', UPWAVE_ACCESS_KEY: 'the-key' };

describe('the example configs', () => {
  it.each(['minimal.yaml', 'production.yaml', 'reference-speed-100.yaml'])('%s can be loaded', (name) => {
    const config = loadConfig(new URL(name, examples).pathname, environment);
    expect(config.service.accessKey.reveal()).toBe('the-key');
  });

  it('minimal.yaml has all defaults', () => {
    const { service, redis, http, log, rollouts } = loadConfig(
      new URL('minimal.yaml', examples).pathname,
      environment,
    );
    expect(service).toMatchObject({
      baseUrl: 'https://api.example.com/api',
      allowedHosts: [],
      requestsPerSecond: 4,
      concurrentRequests: 10,
      budgetShare: 1,
      requestTimeoutMs: 30_000,
    });
    expect(redis).toBeUndefined();
    expect(http).toEqual({
      ...{ host: '127.0.0.1', port: 9464, token: undefined },
      ...{ tokens: [], trustedProxy: undefined },
    });
    expect(log).toEqual({ level: 'info' });
    expect(rollouts).toEqual([
      {
        name: 'all',
        select: { include: {}, exclude: [{ osName: ['Mac*'] }, { name: ['collector_container-*'] }] },
        target: { version: 'latest', allowDowngrade: false, minimumAgeMs: 0, supersede: false },
        schedule: '*/15 * * * *',
        timeZone: 'UTC',
        approval: false,
        windows: [],
        freezes: [],
        concurrency: 10,
        maxInFlightPer: [],
        spreadBy: ['osName', 'osArch', 'collectorVersion'],
        isolateStrata: true,
        waves: [
          {
            name: 'canary',
            size: { kind: 'perStratum', count: 1 },
            soakMs: 1_800_000,
            maxFailures: count(0),
            ...withoutQuestions,
          },
          {
            name: 'early',
            size: percent(10),
            soakMs: 3_600_000,
            maxFailures: percent(1),
            ...withoutQuestions,
          },
          { name: 'rest', size: percent(100), soakMs: 0, maxFailures: percent(2), ...withoutQuestions },
        ],
        onBreach: 'hold',
        lostWeight: 3,
        upgrade: { deadlineMs: 2_100_000, verifyWithinMs: 600_000, expectMs: 300_000 },
        retry: { maxAttempts: 3, backoff: { initialMs: 120_000, factor: 3, maxMs: 3_600_000, jitter: 0.2 } },
        defer: { upToMs: 43_200_000 },
        messageRules: [],
      },
    ]);
  });

  it('production.yaml shows every key of a policy', () => {
    const [production] = loadConfig(new URL('production.yaml', examples).pathname, environment).rollouts;
    expect(production).toMatchObject({
      target: { minimumAgeMs: 259_200_000, supersede: false },
      windows: [
        { days: [1, 2, 3, 4], fromMinute: 1_320, toMinute: 300, timeZone: 'collector' },
        { days: [7], fromMinute: 720, toMinute: 1_440, timeZone: 'Europe/Berlin' },
      ],
      freezes: [
        { from: '2026-12-20T00:00', to: '2027-01-04T00:00', reason: 'holidays', timeZone: 'Europe/Berlin' },
        { from: '2027-03-31T12:00', to: '2027-04-02T08:00', timeZone: 'America/New_York' },
      ],
      maxInFlightPer: [
        { key: 'fields.cluster', cap: 1 },
        { key: 'hostName', cap: 5 },
      ],
    });
    expect(production?.waves.map(({ name, gates }) => [name, gates.map((gate) => gate.kind)])).toEqual([
      ['canary', []],
      ['our-own', []],
      ['early', ['prometheus', 'webhook']],
      ['half', []],
      ['rest', []],
    ]);
    const keys = Object.keys(
      loadConfig(new URL('minimal.yaml', examples).pathname, environment).rollouts[0] ?? {},
    );
    const text = readFileSync(new URL('production.yaml', examples), 'utf8');
    expect(keys.filter((key) => !new RegExp(`^ {4}(- )?${key}:|^ {2}- ${key}:`, 'm').test(text))).toEqual([]);
  });

  it('reference-speed-100.yaml is scaled to the service it names', () => {
    const { service, rollouts } = loadConfig(
      new URL('reference-speed-100.yaml', examples).pathname,
      environment,
    );
    expect(service).toMatchObject({ baseUrl: 'http://127.0.0.1:8080/api', requestsPerSecond: 400 });
    expect(rollouts[0]).toMatchObject({
      upgrade: { deadlineMs: 21_000, verifyWithinMs: 6_000, expectMs: 3_000 },
      retry: { maxAttempts: 3, backoff: { initialMs: 1_200, factor: 3, maxMs: 36_000 } },
      defer: { upToMs: 420_000 },
    });
    expect(rollouts[0]?.waves.every((wave) => wave.soakMs < 1_000)).toBe(true);
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
    expect(config.service.baseUrl).toBe(read);
  });

  it('reads the share of the budget as a fraction, and hosts in small letters', () => {
    const text =
      'service: { baseUrl: http://h, accessId: i, accessKey: k, budgetShare: 80%, allowedHosts: ["*.API.example.com"] }';
    expect(readConfig(withService(text)).service).toMatchObject({
      budgetShare: 0.8,
      allowedHosts: ['*.api.example.com'],
    });
  });
});

describe('the redis section', () => {
  it.each(['redis://localhost', 'rediss://u:p@h:6380/2', 'unix:///run/redis.sock', '/run/redis.sock'])(
    'takes %s',
    (url) => {
      const { redis } = readConfig(withSection(`redis: { url: "${url}" }`));
      expect(redis).toMatchObject({ kind: 'single', keyPrefix: 'upwave' });
      expect(redis?.kind === 'single' && redis.url.reveal()).toBe(url);
    },
  );

  it('takes sentinels with the name of their group', () => {
    const { redis } = readConfig(
      withSection('redis: { sentinels: [a:1, "[::1]:2"], name: main, tls: true, keyPrefix: k }'),
    );
    const sentinels = [
      { host: 'a', port: 1 },
      { host: '::1', port: 2 },
    ];
    expect(redis).toEqual({
      kind: 'sentinel',
      sentinels,
      name: 'main',
      tls: true,
      keyPrefix: 'k',
      username: undefined,
      password: undefined,
    });
  });

  it('puts a password that is given beside the URL into it', () => {
    const { redis } = readConfig(withSection('redis: { url: "redis://u@h:6379/1", password: "p@%/:" }'));
    const url = new URL(redis?.kind === 'single' ? redis.url.reveal() : '');
    expect(url).toMatchObject({ username: 'u', host: 'h:6379', pathname: '/1' });
    expect(decodeURIComponent(url.password)).toBe('p@%/:');
  });

  it('takes the nodes of a cluster', () => {
    const { redis } = readConfig(withSection('redis: { cluster: [a:1], username: u, password: p }'));
    expect(redis).toMatchObject({
      kind: 'cluster',
      nodes: [{ host: 'a', port: 1 }],
      username: 'u',
      tls: false,
    });
    expect(redis?.kind === 'cluster' && redis.password?.reveal()).toBe('p');
  });
});

describe('a rollout', () => {
  it('reads scalars and lists of a selector alike', () => {
    const [rollout] = readConfig(
      withRollout(
        'select: { include: { name: a*, category: [b, /^c$/i], id: 7, version: ">=19.1-1 <19.2", fields: { team: x, 1: [y, z] }, ephemeral: true } }',
      ),
    ).rollouts;
    expect(rollout?.select.include).toEqual({
      name: ['a*'],
      category: ['b', '/^c$/i'],
      id: [7],
      version: ['>=19.1-1 <19.2'],
      fields: { team: ['x'], 1: ['y', 'z'] },
      ephemeral: true,
    });
  });

  it('lets a given exclude, also an empty one, replace the default', () => {
    expect(readConfig(withRollout('select: { exclude: [] }')).rollouts[0]?.select.exclude).toEqual([]);
    expect(readConfig(withRollout('select: { exclude: [{ id: [1] }] }')).rollouts[0]?.select.exclude).toEqual(
      [{ id: [1] }],
    );
  });

  it('fills in what a wave leaves out: soak 30m but for the last, 1% failures, the rest of the plan', () => {
    const waves = readConfig(withRollout('waves: [{ name: a, size: 3 }, { name: b }]')).rollouts[0]?.waves;
    expect(waves).toEqual([
      { name: 'a', size: count(3), soakMs: 1_800_000, maxFailures: percent(1), ...withoutQuestions },
      { name: 'b', size: percent(100), soakMs: 0, maxFailures: percent(1), ...withoutQuestions },
    ]);
  });

  it('reads a pinned build, a schedule with seconds and a time zone', () => {
    const text =
      'target: { version: 19.455-2, allowDowngrade: true }\nschedule: "0 */5 22-23 * * mon-fri"\ntimeZone: America/Los_Angeles';
    expect(readConfig(withRollout(text)).rollouts[0]).toMatchObject({
      target: { version: '19.455-2', allowDowngrade: true },
      schedule: '0 */5 22-23 * * mon-fri',
      timeZone: 'America/Los_Angeles',
    });
  });
});

describe('the environment', () => {
  it('stands for any text, several times, inside others', () => {
    const text = withService(
      'service: { baseUrl: "https://${HOST}/${PATH_}", accessId: "${ID}", accessKey: k }',
    );
    const { service } = readConfig(text, { HOST: 'h.example.com', PATH_: 'api', ID: '123' });
    expect(service.baseUrl).toBe('https://h.example.com/api');
    expect(service.accessId.reveal()).toBe('123');
  });

  it('stands for numbers and truth values where those are wanted', () => {
    const text = withSection('http: { port: "${PORT}" }\nredis: { cluster: [a:1], tls: "${TLS}" }');
    const config = readConfig(text, { PORT: '9000', TLS: 'true' });
    expect(config.http.port).toBe(9_000);
    expect(config.redis).toMatchObject({ tls: true });
    expect(
      readConfig(withRollout('select: { include: { id: ["${A}", 2] } }'), { A: '1' }).rollouts[0]?.select
        .include.id,
    ).toEqual([1, 2]);
  });

  it('is not looked for behind $${, nor in what a variable holds', () => {
    const text = withRollout('select: { include: { name: "$${A}", category: "${A}" } }');
    expect(readConfig(text, { A: '${B}' }).rollouts[0]?.select.include).toEqual({
      name: ['${A}'],
      category: ['${B}'],
    });
  });

  it('must have what the file names; nothing more is said about that place', () => {
    expect(problemsOf(() => readConfig(withRollout('timeZone: ${ZONE}')))).toEqual([
      'config.yaml:4:15 rollouts[0].timeZone: the environment variable ZONE is not set; set it, or write the value here',
    ]);
    expect(problemsOf(() => readConfig(withRollout('timeZone: ${toString}')))[0]).toContain(
      'toString is not set',
    );
  });

  it.each(['${}', '${A:-b}', '${A', '${1A}'])('refuses %s', (written) => {
    const [problem] = problemsOf(() => readConfig(withRollout(`timeZone: "${written}"`)));
    expect(problem).toContain('is no environment variable; write ${NAME}, or $${ for a literal ${');
  });

  it('does not show its values in problems', () => {
    const [problem] = problemsOf(() => readConfig(withRollout('timeZone: ${KEY}'), { KEY: 'hunter2' }));
    expect(problem).toContain('"${KEY}" is no IANA time zone');
    expect(problem).not.toContain('hunter2');
  });
});

describe('secrets in files', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'upwave-config-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
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
    expect(service.accessId.reveal()).toBe('from-file');
    expect(service.accessKey.reveal()).toBe('key-from-file');
  });

  it('that can not be read are told by place and reason, all of them', () => {
    writeFileSync(join(folder, 'id'), 'a:b');
    expect(problemsOf(() => load(`${withKeyFile('nowhere')}http: { tokenFile: . }\nlogs: {}`))).toEqual([
      expect.stringMatching(/c\.yaml:1:\d+ service\.accessIdFile: can't take the secret from "id": it holds/),
      expect.stringMatching(
        /c\.yaml:1:\d+ service\.accessKeyFile: can't take the secret from "nowhere": there is no such file$/,
      ),
      expect.stringMatching(
        /c\.yaml:3:20 http\.tokenFile: can't take the secret from "\.": this is a directory/,
      ),
      expect.stringMatching(/c\.yaml:4:1 logs: unknown key "logs"; did you mean "log"\?/),
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
    const { accessKey } = config.service;
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

function count(size: number) {
  return { kind: 'count', count: size };
}

function percent(size: number) {
  return { kind: 'percent', percent: size };
}
