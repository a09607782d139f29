import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { callUpwave } from '../../../support/night/upwave-call.ts';
import { aFolder, type Folder, runUpwave, startUpwave } from '../../../support/night/upwave-process.ts';
import { testSecrets } from '../../../support/test-secrets.ts';
import { until } from '../../../support/until.ts';

const service = {
  baseUrl: 'https://api.example.com/api',
  ...testSecrets.commandLine,
};
const noStack = /^\s+at /m;

async function withFolder(work: (folder: Folder) => Promise<void>): Promise<void> {
  const ends: Array<() => void> = [];
  try {
    await work(aFolder((end) => ends.push(end)));
  } finally {
    for (const end of ends) end();
  }
}

describe.concurrent('the command line', () => {
  it.each([
    { args: ['--help'], says: /Usage: upwave/ },
    { args: ['help', 'plan'], says: /--members/ },
    { args: ['--version'], says: /^\d+\.\d+\.\d+/ },
  ])('$args ends with 0', async ({ args, says }) => {
    const { code, out, err } = await runUpwave({ args });
    expect(out).toMatch(says);
    expect(err).toBe('');
    expect(code).toBe(0);
  });

  it.each([
    { args: ['nonsense'], says: /unknown command 'nonsense'/ },
    { args: ['pasue'], says: /Did you mean pause\?/ },
    { args: ['run', '--onse'], says: /unknown option '--onse'/ },
    { args: ['run', '--log-file', 'x'], says: /^upwave: --log-file is for `run --once`/ },
    { args: ['run', '--wait'], says: /^upwave: --wait is for `run --once`/ },
    { args: ['hold', '--reason', 'none'], says: /missing required argument 'what'/ },
    { args: ['service', '--fleet', 'many'], says: /give a whole number/ },
    { args: [], says: /Usage: upwave/ },
    {
      args: ['status', '--url', 'foo'],
      says: /--url, or UPWAVE_URL, must be where the daemon listens, such as/,
    },
    {
      args: ['status', '--url', 'localhost:9464'],
      says: /--url, or UPWAVE_URL, must be where the daemon listens, such as/,
    },
    {
      args: ['pause', '--url', 'http://h?x=y'],
      says: /--url, or UPWAVE_URL, must be where the daemon listens, such as/,
    },
  ])('$args ends with 2', async ({ args, says }) => {
    const { code, err, all } = await callUpwave(...args);
    expect(err).toMatch(says);
    expect(all).not.toMatch(noStack);
    expect(code).toBe(2);
  });
});

describe.concurrent('what went wrong, with --json', () => {
  it.each([
    { args: ['status', '--json', '--url', 'http://127.0.0.1:1'], exitCode: 4, message: /^no answer from/ },
    { args: ['--json', 'plan', '--config', 'nowhere.yaml'], exitCode: 2, message: /nowhere\.yaml/ },
    { args: ['pause', '--json', '--plan', 'x'], exitCode: 2, message: /^unknown option '--plan'/ },
  ])('$args is one JSON line', async ({ args, exitCode, message }) => {
    const { code, err, out } = await callUpwave(...args);
    expect(JSON.parse(err)).toEqual({ error: { exitCode, message: expect.stringMatching(message) } });
    expect(out).toBe('');
    expect(code).toBe(exitCode);
  });
});

describe.concurrent('a log that can not be written', () => {
  const runOnce = async (logFile: string) => {
    const ends: Array<() => void> = [];
    const folder = aFolder((end) => ends.push(end));
    const redis = { url: 'redis://127.0.0.1:1' };
    const file = folder.write('upwave.yaml', {
      service,
      redis,
      http: { port: 0 },
      rollouts: [{ name: 'all' }],
    });
    const args = ['run', '--once', '--log-file', logFile, '--config', file];
    const result = await runUpwave({ args, cwd: folder.path });
    for (const end of ends) end();
    return result;
  };

  it('is told before anything is begun, and ends with 2', async () => {
    const { code, err } = await runOnce('/nonexistent/x');
    expect(err).toBe('upwave: cannot write the log /nonexistent/x: ENOENT\n');
    expect(code).toBe(2);
  });

  it.skipIf(!existsSync('/dev/full'))('any more is told once, and stops nothing', async () => {
    const { code, err, all } = await runOnce('/dev/full');
    expect(err.match(/the log \/dev\/full can't be written any more: ENOSPC/g)).toHaveLength(1);
    expect(err).toContain('cannot reach Redis');
    expect(all).not.toMatch(noStack);
    expect(code).toBe(4);
  });
});

describe.concurrent('the config file', () => {
  it('of `run` with a typo ends with 2, file:line and the nearest key', async () => {
    await withFolder(async ({ path, write }) => {
      write(
        'upwave.yaml',
        `service: ${JSON.stringify(service)}\nrollouts:\n  - name: all\n    concurency: 3\n`,
      );
      const { code, err, all } = await runUpwave({ args: ['run'], cwd: path });
      expect(err).toContain('upwave.yaml:4:5 rollouts[0].concurency: unknown key');
      expect(err).toContain('did you mean "concurrency"?');
      expect(all).not.toContain(service.accessKey);
      expect(all).not.toMatch(noStack);
      expect(code).toBe(2);
    });
  });

  it('a variable that is not set ends with 2 and names it', async () => {
    await withFolder(async ({ path, write }) => {
      const accessKey = '$'.concat('{UPWAVE_NO_SUCH_KEY}');
      write('upwave.yaml', { service: { ...service, accessKey }, rollouts: [{ name: 'all' }] });
      const { code, err } = await runUpwave({ args: ['run', '--once'], cwd: path });
      expect(err).toMatch(/^upwave: upwave\.yaml:\d+:\d+ service\.accessKey: .*UPWAVE_NO_SUCH_KEY/);
      expect(err).not.toMatch(noStack);
      expect(code).toBe(2);
    });
  });

  it('a file that is not there ends with 2 and names it', async () => {
    const { code, err } = await callUpwave('plan', '--config', '/no/such/upwave.yaml');
    expect(err).toContain('/no/such/upwave.yaml');
    expect(err).not.toMatch(noStack);
    expect(code).toBe(2);
  });

  it('`config check` says what it read, and shows no secret', async () => {
    await withFolder(async ({ write }) => {
      const file = write('right.yaml', { service, rollouts: [{ name: 'all' }] });
      const text = await callUpwave('config', 'check', '--config', file);
      expect(text.out).toContain(`${file} is right: service https://api.example.com/api`);
      expect(text.out).toMatch(/^ {2}all: to latest, 10 at once, /m);
      const json = await callUpwave('config', 'check', '--json', '--config', file);
      expect(JSON.parse(json.out)).toMatchObject({
        service: { accessKey: '***' },
        rollouts: [{ name: 'all', concurrency: 10 }],
      });
      expect([text.code, json.code]).toEqual([0, 0]);
      expect(text.all + json.all).not.toContain(service.accessKey);
    });
  });
});

describe.concurrent('secrets on the command line (P12)', () => {
  it('`config check --print` shows the whole config, with every secret masked', async () => {
    await withFolder(async ({ write }) => {
      const token = '$'.concat('{UPWAVE_TOKEN}');
      write('redis-password', 'Rr-thePasswordOfRedis\n');
      const file = write('right.yaml', {
        service,
        redis: { url: 'redis://user@db.example.com:6379', passwordFile: 'redis-password' },
        http: { token },
        rollouts: [{ name: 'all', select: { include: { name: 'web\u202e*' } } }],
      });
      const env = { UPWAVE_TOKEN: testSecrets.bearerToken };
      const args = ['config', 'check', '--print', '--config', file];
      const text = await runUpwave({ args, env });
      const json = await runUpwave({ args: [...args, '--json'], env });
      expect(text.out).toContain('accessKey: "***"');
      expect(text.out).toContain('url: redis://user:***@db.example.com:6379');
      expect(text.out).toContain('schedule: "*/15 * * * *"');
      expect(JSON.parse(json.out)).toMatchObject({
        service: { accessId: '***', accessKey: '***' },
        http: { token: '***', port: 9464 },
        rollouts: [{ name: 'all', concurrency: 10 }],
      });
      expect([text.code, json.code]).toEqual([0, 0]);
      for (const secret of [service.accessKey, testSecrets.bearerToken, 'Rr-thePasswordOfRedis', '\u202e'])
        expect(text.all + json.all).not.toContain(secret);
      // Its mask is too short for a token.
      const again = write('again.yaml', text.out.replace('token: "***"', `token: ${token}`));
      const second = await runUpwave({ args: ['config', 'check', '--print', '--config', again], env });
      expect(second.out).toBe(text.out);
    });
  });

  it('`config check` shows no path of a webhook, and warns of what puts a secret at risk', async () => {
    await withFolder(async ({ write }) => {
      const webhook = { url: 'http://hooks.example.com/T0/thePathToken', tokenFile: 'token' };
      const waves = [{ name: 'a', size: 1, gates: [{ webhook }] }, { name: 'b' }];
      const file = write('right.yaml', { service, rollouts: [{ name: 'all', waves }] });
      const check = (...args: string[]) => callUpwave('config', 'check', ...args, '--config', file);
      const [text, json, print] = await Promise.all([check(), check('--json'), check('--print')]);
      const risk = 'the token of gate webhook (all, wave a) goes to its url without TLS; write https://';
      expect(text.out).toContain(`\n  warning: ${risk}\n`);
      expect(JSON.parse(json.out)).toMatchObject({ risks: [risk] });
      for (const { out } of [json, print]) expect(out).toContain('http://hooks.example.com/***');
      for (const { all, code } of [text, json, print]) {
        expect(all).not.toContain('thePathToken');
        expect(code).toBe(0);
      }
    });
  });

  it('`config check --print` names the Redis that is taken where the file names none', async () => {
    await withFolder(async ({ write }) => {
      const file = write('right.yaml', { service, rollouts: [{ name: 'all' }] });
      const { out } = await callUpwave('config', 'check', '--print', '--config', file);
      expect(out).toContain('url: redis://127.0.0.1:6379');
      expect(out).toContain('keyPrefix: upwave');
    });
  });

  it('`run --redis` takes no password there: everybody may list processes', async () => {
    await withFolder(async ({ write }) => {
      const file = write('right.yaml', { service, rollouts: [{ name: 'all' }] });
      const args = ['run', '--redis', 'redis://:Rr-thePasswordOfRedis@127.0.0.1:1', '--config', file];
      const { code, err, all } = await callUpwave(...args);
      expect(err).toMatch(/^upwave: a password on the command line is seen in the process list/);
      expect(all).not.toContain('Rr-thePasswordOfRedis');
      expect(code).toBe(2);
    });
  });
});

describe.concurrent('policies of one config', () => {
  it('`config check` warns of two that select the very same collectors, and ends with 0', async () => {
    await withFolder(async ({ write }) => {
      const rollouts = [
        { name: 'one' },
        { name: 'two' },
        { name: 'web', select: { include: { name: 'web-*' } } },
      ];
      const file = write('twins.yaml', { service, rollouts });
      const { code, out } = await callUpwave('config', 'check', '--config', file);
      const warnings = out.split('\n').filter((line) => line.startsWith('  warning: '));
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatch(/"one" and "two" select the very same collectors/);
      expect(code).toBe(0);
      const json = await callUpwave('config', 'check', '--json', '--config', file);
      expect(JSON.parse(json.out)).toMatchObject({ overlapping: [{ first: 'one', second: 'two' }] });
    });
  });
});

describe.concurrent('upwave service', () => {
  it('wants the credentials it shall accept', async () => {
    const { code, err } = await callUpwave('service', '--port', '0');
    expect(err).toMatch(/^upwave: give the credentials it shall accept/);
    expect(code).toBe(2);
  });

  it('serves until it is asked to stop, and shows no key', async () => {
    const UPWAVE_ACCESS_KEY = 'a-key-in-the-environment';
    const env = { UPWAVE_ACCESS_ID: 'anId', UPWAVE_ACCESS_KEY };
    const args = ['service', '--port', '0', '--fleet', '12', '--speed', '100'];
    const running = startUpwave({ args, env });
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

  it('names every mistake of a scenario with its file', async () => {
    await withFolder(async ({ write }) => {
      const scenario = write('scenario.yaml', {
        fleet: { size: -1 },
        durations: { median: 'long' },
        httpFaults: [{ share: 1, fault: '503', operations: ['listColectors'] }],
      });
      const args = ['service', '--access-id', 'a', '--access-key', 'b', '--scenario', scenario];
      const { code, err } = await callUpwave(...args);
      expect(err).toContain('scenario.yaml');
      expect(err).toContain('fleet.size');
      expect(err).toContain('durations.median');
      expect(err).toMatch(/httpFaults\[0\]\.operations\[0\]: .* did you mean "listCollectors"\?/);
      expect(err).not.toMatch(noStack);
      expect(code).toBe(2);
    });
  });

  it('refuses more collectors than an account has', async () => {
    const { code, err } = await callUpwave('service', '--fleet', '10001');
    expect(err).toContain('an account has at most 10000 collectors');
    expect(code).toBe(2);
  });
});
