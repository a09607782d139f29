import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { callUpwave } from '../../support/night/upwave-call.ts';
import { aDesk } from '../../support/night/upwave-desk.ts';
import { runUpwave, startUpwave } from '../../support/night/upwave-process.ts';
import { testSecrets } from '../../support/test-secrets.ts';
import { until } from '../../support/until.ts';

const service = { baseUrl: 'https://api.example.com/api', ...testSecrets.commandLine };
const rollouts = [{ name: 'all' }];
const noStack = /^\s+at .*:\d+:\d+/m;
const variable = (name: string) => `\${${name}}`;
const secrets = [service.accessKey, testSecrets.bearerToken, 'thePathToken'];
const noSecret = expect.toSatisfy((text: string) => secrets.every((secret) => !text.includes(secret)));

describe.concurrent('the command line', () => {
  it.each([
    ['--help', /Usage: upwave/],
    ['help plan', /--members/],
    ['--version', /^\d+\.\d+\.\d+/],
  ])('`%s` ends with 0', async (words, says) => {
    const { code, out, err } = await runUpwave({ args: words.split(' ') });
    expect([code, err, out]).toEqual([0, '', expect.stringMatching(says)]);
  });

  const whereTo = /--url, or UPWAVE_URL, must be the address of the daemon, such as/;
  it.each([
    ['nonsense', /unknown command 'nonsense'/],
    ['pasue', /Did you mean pause\?/],
    ['run --onse', /unknown option '--onse'/],
    ['run --log-file x', /^upwave: --log-file is for `run --once`/],
    ['run --wait', /^upwave: --wait is for `run --once`/],
    ['run production', /^upwave: the daemon runs every policy .*`run --once production` runs one policy/],
    ['hold --reason none', /missing required argument 'what'/],
    ['upgrades --state faild', /did you mean failed\?/],
    ['events --limit 1001', /1001/],
    ['approve --cause retry', /unknown option '--cause'/],
    ['export', /missing required argument 'rollout'/],
    ['service --fleet many', /give a whole number/],
    ['service --fleet 10001', /an account has at most 10000 collectors/],
    [
      'service --fleet-from package.json --access-id a --access-key b',
      /package\.json: is not a list of collectors/,
    ],
    ['service --port 0', /^upwave: give the credentials that it accepts/],
    ['', /Usage: upwave/],
    ['status --url foo', whereTo],
    ['status --url localhost:9464', whereTo],
    ['pause --url http://h?x=y', whereTo],
    ['plan --config /no/such/upwave.yaml', /\/no\/such\/upwave\.yaml/],
  ])('`%s` ends with 2', async (words, says) => {
    const { code, err, all } = await callUpwave(...words.split(' ').filter((word) => word !== ''));
    expect([code, err]).toEqual([2, expect.stringMatching(says)]);
    expect(all).not.toMatch(noStack);
  });

  it('refuses a password in `run --redis`, because everybody may list processes (P12)', async (test) => {
    const desk = aDesk(test, { service, rollouts });
    const { code, err, all } = await desk.call('run', '--redis', 'redis://:Rr-thePassword@127.0.0.1:1');
    expect(err).toMatch(/^upwave: the process list shows a password on the command line/);
    expect(all).not.toContain('Rr-thePassword');
    expect(code).toBe(2);
  });

  it.each([
    ['status --json --url http://127.0.0.1:1', 4, /^no answer from/],
    ['--json plan --config nowhere.yaml', 2, /nowhere\.yaml/],
    ['pause --json --plan x', 2, /^unknown option '--plan'/],
  ])('`%s` reports the error in one JSON line', async (words, exitCode, says) => {
    const { code, err, out } = await callUpwave(...words.split(' '));
    expect(JSON.parse(err)).toEqual({ error: { exitCode, message: expect.stringMatching(says) } });
    expect([code, out]).toEqual([exitCode, '']);
  });
});

describe.concurrent('a log that cannot be written', () => {
  const config = { service, redis: { url: 'redis://127.0.0.1:1' }, http: { port: 0 }, rollouts };

  it('is reported before anything starts, and ends with 2', async (test) => {
    const { code, err } = await aDesk(test, config).run('run', '--once', '--log-file', '/nonexistent/x');
    expect([code, err]).toEqual([2, 'upwave: cannot write the log /nonexistent/x: ENOENT\n']);
  });

  it.skipIf(!existsSync('/dev/full'))(
    'is reported once while the command runs, and stops nothing',
    async (test) => {
      const { code, err, all } = await aDesk(test, config).run('run', '--once', '--log-file', '/dev/full');
      expect(err.match(/the log \/dev\/full can no longer be written: ENOSPC/g)).toHaveLength(1);
      expect([code, err]).toEqual([4, expect.stringContaining('cannot reach Redis')]);
      expect(all).not.toMatch(noStack);
    },
  );
});

describe.concurrent('a config file with a mistake', () => {
  it.for([
    [
      { concurency: 3 },
      {},
      /upwave\.yaml:\d+:\d+: rollouts\[0\]\.concurency: unknown key.*did you mean "concurrency"\?/,
    ],
    [
      {},
      { accessKey: variable('UPWAVE_NO_SUCH_KEY') },
      /^upwave: \S+\.yaml:\d+:\d+: service\.accessKey: .*UPWAVE_NO_SUCH_KEY/,
    ],
  ] as const)('ends `run` with 2, and names the place: %j %j', async ([policy, changes, says], test) => {
    const config = { service: { ...service, ...changes }, rollouts: [{ name: 'all', ...policy }] };
    const { code, err, all } = await aDesk(test, config).run('run');
    expect([code, err]).toEqual([2, expect.stringMatching(says)]);
    expect(all).not.toContain(service.accessKey);
    expect(all).not.toMatch(noStack);
  });

  it('ends `service` with 2 where the file is a scenario, and names every mistake', async (test) => {
    const scenario = aDesk(test, {
      fleet: { size: -1 },
      durations: { median: 'long' },
      httpFaults: [{ share: 1, fault: '503', operations: ['listColectors'] }],
    });
    const args = ['service', '--access-id', 'a', '--access-key', 'b', '--scenario', scenario.file];
    const { code, err } = await callUpwave(...args);
    expect(code).toBe(2);
    for (const words of ['upwave.yaml', 'fleet.size', 'durations.median']) expect(err).toContain(words);
    expect(err).toMatch(/httpFaults\[0\]\.operations\[0\]: .* did you mean "listCollectors"\?/);
    expect(err).not.toMatch(noStack);
  });
});

describe.concurrent('`config check`', () => {
  it('prints each error as file:line:column: message, and as a list for programs', async (test) => {
    const desk = aDesk(test, { service, rollouts: [{ name: 'all', concurency: 3, soak: 1 }] });
    const text = await desk.call('config', 'check');
    const json = await desk.call('config', 'check', '--json');
    expect([text.code, json.code, text.err, json.err]).toEqual([2, 2, '', '']);
    const lines = text.out.trimEnd().split('\n');
    const problems = JSON.parse(json.out) as readonly Readonly<Record<string, string | number>>[];
    expect(problems).toHaveLength(2);
    expect(problems[0]).toEqual({
      file: expect.stringMatching(/upwave\.yaml$/),
      line: expect.any(Number),
      column: expect.any(Number),
      message: 'unknown key "concurency"; did you mean "concurrency"?',
      path: 'rollouts[0].concurency',
    });
    expect(lines).toEqual(
      problems.map(
        ({ file, line, column, message, path }) => `${file}:${line}:${column}: ${path}: ${message}`,
      ),
    );
  });

  it('warns of a policy that gives a collector less time to return than its next heartbeat takes', async (test) => {
    const desk = aDesk(test, {
      service,
      rollouts: [
        { name: 'quick', select: { include: { name: 'a' } }, upgrade: { verifyWithin: '6s' } },
        { name: 'usual', select: { include: { name: 'b' } }, upgrade: { verifyWithin: '1m' } },
      ],
    });
    const { code, out } = await desk.call('config', 'check');
    expect([code, out.match(/warning: .*/g)]).toEqual([
      0,
      [expect.stringMatching(/^warning: quick waits 6s .*\(upgrade\.verifyWithin\).* every 15s/)],
    ]);
  });

  it('reports a missing file without a line', async () => {
    const args = ['config', 'check', '--config', '/nowhere/upwave.yaml'];
    const [text, json] = [await callUpwave(...args), await callUpwave(...args, '--json')];
    const message = 'there is no such file';
    expect([text.code, text.out]).toEqual([
      2,
      `/nowhere/upwave.yaml: ${message}; \`upwave init\` writes a first one\n`,
    ]);
    expect(JSON.parse(json.out)).toEqual([
      { file: '/nowhere/upwave.yaml', line: null, column: null, message, path: '' },
    ]);
  });

  it('reads no files with secrets with --no-secrets', async (test) => {
    const { accessKey: _key, ...others } = service;
    const elsewhere = { ...others, accessKeyFile: '/run/credentials/upwave.service/access-key' };
    const notify = [{ slack: { urlFile: '/run/credentials/upwave.service/slack-url' } }];
    const desk = aDesk(test, { service: elsewhere, notify, rollouts });
    const [read, unread] = [
      await desk.call('config', 'check'),
      await desk.call('config', 'check', '--no-secrets'),
    ];
    expect(read).toMatchObject({ code: 2, out: expect.stringContaining('there is no such file') });
    expect(unread).toMatchObject({ code: 0, out: expect.stringContaining('is valid: service ') });
  });

  it('says that a good file is valid', async (test) => {
    const { code, out } = await aDesk(test, { service, rollouts }).call('config', 'check');
    expect([code, out]).toEqual([0, expect.stringMatching(/^\S+upwave\.yaml is valid: service /)]);
  });

  it('warns of settings that put a secret at risk, and of two equal policies, as text and as JSON', async (test) => {
    const webhook = { url: 'http://hooks.example.com/T0/thePathToken', tokenFile: 'token' };
    const waves = [{ name: 'a', size: 1, gates: [{ webhook }] }, { name: 'b' }];
    const desk = aDesk(test, { service, rollouts: [{ name: 'one', waves }, { name: 'two' }] });
    const [text, json] = [await desk.call('config', 'check'), await desk.call('config', 'check', '--json')];
    const risk = 'the token of gate webhook (one, wave a) goes to its url without TLS; write https://';
    expect(text.out).toContain(`\n  warning: ${risk}\n`);
    expect(text.out).toMatch(/^ {2}warning: .*"one" and "two" select the same collectors/m);
    expect(JSON.parse(json.out)).toMatchObject({
      risks: [risk],
      overlapping: [{ first: 'one', second: 'two' }],
    });
    for (const { all, code } of [text, json]) expect([code, all]).toEqual([0, noSecret]);
  });

  it('--print shows the whole config with every secret masked, as YAML and as JSON (P12)', async (test) => {
    const config = { service, http: { token: variable('UPWAVE_TOKEN') }, rollouts };
    const desk = aDesk(test, config, { env: { UPWAVE_TOKEN: testSecrets.bearerToken } });
    const text = await desk.run('config', 'check', '--print');
    const json = await desk.run('config', 'check', '--print', '--json');
    expect(text.out).toContain('accessKey: "***"');
    expect(text.out).toContain('schedule: "*/15 * * * *"');
    expect(JSON.parse(json.out)).toMatchObject({
      http: { token: '***', port: 9464 },
      rollouts: [{ name: 'all' }],
    });
    for (const { all, code } of [text, json]) expect([code, all]).toEqual([0, noSecret]);
  });
});

describe.concurrent('a running `upwave service`', () => {
  it('serves until it receives a stop signal, and shows no key (P12)', async () => {
    const UPWAVE_ACCESS_KEY = 'a-key-in-the-environment';
    const env = { UPWAVE_ACCESS_ID: 'anId', UPWAVE_ACCESS_KEY };
    const running = startUpwave({ args: 'service --port 0 --fleet 12 --speed 100'.split(' '), env });
    const url = await until(
      'the service to listen',
      () => /reference service at (\S+): 12 collectors, 100 times real time/.exec(running.out())?.[1],
    );
    const authorization = `Basic ${Buffer.from(`anId:${UPWAVE_ACCESS_KEY}`).toString('base64')}`;
    const answer = await fetch(`${url}/v1/collectors`, { headers: { authorization } });
    expect(await answer.json()).toMatchObject({ collectors: expect.any(Array) });
    running.kill('SIGTERM');
    const { code, all } = await running.ended;
    expect(code).toBe(0);
    expect(all).not.toContain(UPWAVE_ACCESS_KEY);
  });
});
