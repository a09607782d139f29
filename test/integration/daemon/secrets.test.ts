import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { request } from 'undici';
import { describe, it } from 'vitest';
import type { RedisCommands } from '../../../src/redis/connection/connection.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { sendJson, sendText, startScriptedServer } from '../../support/network/scripted-server.ts';
import { startWayToService, type WayToService } from '../../support/network/way-to-service.ts';
import {
  aDaemonNight,
  createsReach,
  nightConfig,
  nightCredentials,
  nightPolicy,
  scan,
  statusOf,
  untilEnded,
} from '../../support/night/daemon-night.ts';
import { callUpwave } from '../../support/night/upwave-call.ts';
import { aFolder, daemonUrl, startUpwave } from '../../support/night/upwave-process.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { testSecrets } from '../../support/test-secrets.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();

const token = testSecrets.bearerToken;
const { gateSignature, gateToken, redisPassword } = testSecrets;
const basicToken = Buffer.from(`${nightCredentials.accessId}:${nightCredentials.accessKey}`).toString(
  'base64',
);

/** Every key of this prefix with its whole content, as text. */
async function dump(commands: RedisCommands, keyPrefix: string): Promise<string> {
  const lines: string[] = [];
  let cursor = '0';
  do {
    const [next, keys] = await commands.scan(cursor, 'MATCH', `*${keyPrefix}*`, 'COUNT', 500);
    for (const key of keys) lines.push(`${key} ${JSON.stringify(await contentOf(commands, key))}`);
    cursor = next;
  } while (cursor !== '0');
  return lines.join('\n');
}

async function contentOf(commands: RedisCommands, key: string): Promise<unknown> {
  switch (await commands.type(key)) {
    case 'string':
      return commands.get(key);
    case 'hash':
      return commands.hgetall(key);
    case 'list':
      return commands.lrange(key, 0, -1);
    case 'set':
      return commands.smembers(key);
    case 'zset':
      return commands.zrangebyscore(key, '-inf', '+inf');
    case 'stream':
      return commands.xrange(key, '-', '+');
    default:
      // It was gone before it could be read.
      return null;
  }
}

// At once, in stores of their own: they wait for answers that are lost, and for a Redis that is away.
describe.concurrent('secrets stay (P12)', () => {
  it('shows access key, sign-in, session cookie and token in no log line, page, metric, answer or Redis key', async ({
    expect,
    onTestFinished,
  }) => {
    const config = redis.config();
    const { commands } = redis.connect();
    let way: WayToService | undefined;
    onTestFinished(async () => way?.close());
    const night = await aDaemonNight(
      {
        redis: config,
        http: { token },
        // Without its scrubber: nothing may rely on it alone.
        scrubsLog: false,
        scenario: {
          fleet: { size: 12 },
          // Errors of every kind, since errors are what carries requests into logs.
          httpFaults: [
            { share: 0.05, fault: '502html' },
            { share: 0.05, fault: 'cutOff' },
            { share: 0.05, fault: 'brokenJson' },
            { operations: ['createUpgradeTask'], share: 0.2, fault: 'answerLost' },
          ],
        },
        service: { requestTimeout: '500ms' },
        through: async (serviceUrl) => {
          way = await startWayToService(serviceUrl);
          return way.url;
        },
      },
      onTestFinished,
    );
    const daemon = await night.startDaemon();
    const told: string[] = [];
    const ask = async (path: string, authorization: string, method: 'GET' | 'POST' = 'GET', body = '') => {
      const answer = await request(`${daemon.url}${path}`, {
        method,
        headers: { authorization },
        ...(body !== '' && { body }),
      });
      told.push(`${path} ${JSON.stringify(answer.headers)} ${await answer.body.text()}`);
      return answer.statusCode;
    };
    const bearer = `Bearer ${token}`;
    const rolloutId = await scan(daemon);
    const status = untilEnded(daemon, rolloutId);
    told.push(await dump(commands, config.keyPrefix));
    expect(await ask('/metrics', `Bearer ${token}x`)).toBe(401);
    expect(await ask('/metrics', 'Bearer')).toBe(401);
    expect(await ask(`/api/v1/rollouts/${rolloutId}/pause`, bearer, 'POST')).toBe(200);
    told.push(await dump(commands, config.keyPrefix));
    const hold = JSON.stringify({ hold: (await statusOf(daemon, rolloutId)).hold });
    expect(await ask(`/api/v1/rollouts/${rolloutId}/resume`, bearer, 'POST', hold)).toBe(200);
    expect((await status).state).toBe('succeeded');
    const paths = ['/', '/healthz', '/readyz', '/metrics', '/api/v1/openapi.json', '/api/v1/rollouts'];
    const ofRollout = ['', '/collectors', '/events'].map((part) => `/api/v1/rollouts/${rolloutId}${part}`);
    for (const path of [...paths, ...ofRollout]) expect(await ask(path, bearer)).toBe(200);
    told.push(await dump(commands, config.keyPrefix));
    await daemon.close();
    told.push(daemon.logText());

    const cookies = [...(way?.cookies ?? [])];
    expect(cookies.length).toBeGreaterThan(0);
    const everything = told.join('\n');
    // The test looks at the right things.
    expect(everything).toContain(rolloutId);
    expect(everything).toContain('upwave_api_requests_total');
    expect(everything).toContain('"event":"upgrade.succeeded"');
    for (const secret of [nightCredentials.accessKey, basicToken, token, ...cookies]) {
      expect(everything.includes(secret), `${secret.slice(0, 3)}… is shown`).toBe(false);
      expect(everything.includes(encodeURIComponent(secret))).toBe(false);
    }
  });

  it('shows none of them in a whole rollout of processes: arguments, log, commands, audit, holds, export', async ({
    expect,
    onTestFinished,
  }) => {
    const config = redis.config();
    const { commands } = redis.connect();
    const night = await aDaemonNight({ redis: config, scenario: { fleet: { size: 12 } } }, onTestFinished);
    let way: WayToService | undefined;
    onTestFinished(async () => way?.close());
    way = await startWayToService(night.service.url);
    // Repeats whatever it was told, as a careless service does: in a refusal, in what it holds for, in a pass.
    const gateSaid: string[] = [];
    const gate = await startScriptedServer((seen, response) => {
      const said = `you are ${seen.headers.authorization} at ${seen.url}`;
      gateSaid.push(said);
      if (seen.path.startsWith('/shown')) return sendJson(response, 409, { reason: said });
      return gateSaid.length < 4 ? sendText(response, 401, said) : sendJson(response, 200, { reason: said });
    });
    onTestFinished(() => gate.close());

    const folder = aFolder(onTestFinished);
    folder.write('access-key', `${nightCredentials.accessKey}\n`);
    folder.write('gate-token', `${gateToken}\n`);
    folder.write('token', `${token}\n`);
    const webhook = { url: gate.url, every: '100ms', tokenFile: 'gate-token' };
    folder.write('gate-url', `${gate.url}/shown?sig=${gateSignature}`);
    const { url: _inItsFile, ...unplaced } = webhook;
    const shown = { name: 'shown', dryRun: true, webhook: { ...unplaced, urlFile: 'gate-url' } };
    const base = nightConfig(`${way.url}/api`, {
      rollout: {
        waves: [
          { name: 'canary', size: 2, soak: '200ms', maxFailures: 1, gates: [{ webhook }, shown] },
          { name: 'rest', maxFailures: '50%' },
        ],
      },
    }) as { service: Record<string, unknown> };
    const { accessKey: _inAFile, ...service } = base.service;
    const file = folder.write('upwave.yaml', {
      ...base,
      service: { ...service, accessKeyFile: 'access-key' },
      redis: config,
      http: { port: 0, token: '$'.concat('{UPWAVE_TOKEN}') },
    });
    const input = { cwd: folder.path, env: { UPWAVE_TOKEN: token } };
    const daemon = startUpwave({ ...input, args: ['run', '--config', file] });
    onTestFinished(() => daemon.kill('SIGKILL'));
    const url = await daemonUrl(daemon);

    const told: string[] = [];
    const port = Number(new URL(url).port);
    // The commands find the daemon where the config says.
    const desk = folder.write('desk.yaml', {
      ...base,
      service: { ...service, accessKeyFile: 'access-key' },
      redis: config,
      http: { port, tokenFile: 'token' },
    });
    const upwave = async (...args: readonly string[]) => {
      const { code, all } = await callUpwave(...args, '--config', desk);
      told.push(`upwave ${args.join(' ')} → ${code}\n${all}`);
      return { code, all };
    };
    const rolloutId = await until('a rollout', async () => {
      const answer = await request(`${url}/api/v1/rollouts`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const { rollouts = [] } = (await answer.body.json()) as { rollouts?: ReadonlyArray<{ id: string }> };
      return rollouts[0]?.id;
    });
    const readRollout = async () => {
      const headers = { authorization: `Bearer ${token}` };
      return (await request(`${url}/api/v1/rollouts/${rolloutId}`, { headers })).body.text();
    };
    told.push(...argumentsOf(daemon.pid));
    told.push(await dump(commands, config.keyPrefix));
    const build = '19.1-1';
    expect((await upwave('hold', build, '--reason', 'too new')).code).toBe(0);
    expect((await upwave('holds')).all).toContain(build);
    expect((await upwave('release', build)).code).toBe(0);
    await createsReach(night, 1);
    const collector = String(night.record().creates[0]?.collectorId);
    expect((await upwave('explain', collector)).all).toContain(nightPolicy);
    await upwave('pause', rolloutId, '--reason', 'a look');
    const { hold } = JSON.parse(await readRollout()) as { readonly hold: number };
    // It may be over by then: what is searched is what the commands print.
    await upwave('resume', rolloutId, '--hold', String(hold));
    await upwave('status', rolloutId, '--json');
    await until('the end', async () => {
      const text = await readRollout();
      told.push(text);
      return /"state":"(succeeded|finishedWithFailures)"/.test(text) ? true : undefined;
    });
    // Not one after the other: they only read.
    const reads = [
      ['status', rolloutId],
      ['status', rolloutId, '--json'],
      ['plan', '--members'],
      ['collectors', 'list', '--json'],
      ['builds'],
      ['export', rolloutId],
      ['config', 'check'],
      ['config', 'check', '--json'],
      ['config', 'check', '--print'],
      ['config', 'check', '--print', '--json'],
    ];
    await Promise.all(
      reads.map(async (args) => expect((await upwave(...args)).code, args.join(' ')).toBe(0)),
    );
    const paths = ['/', '/readyz', '/metrics', '/api/v1/holds', '/api/v1/audit', '/api/v1/rollouts'];
    const ofRollout = ['', '/collectors', '/events', '/verbs'].map(
      (part) => `/api/v1/rollouts/${rolloutId}${part}`,
    );
    for (const path of [...paths, ...ofRollout, `/api/v1/collectors/${collector}/explanation`]) {
      const answer = await request(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
      told.push(`${path} ${JSON.stringify(answer.headers)} ${await answer.body.text()}`);
      expect(answer.statusCode, path).toBe(200);
    }
    told.push(await dump(commands, config.keyPrefix));
    daemon.kill('SIGTERM');
    told.push((await daemon.ended).all);

    const everything = told.join('\n');
    // The test looks at the right things: all of these were there, and the gate was told its token.
    for (const words of [
      rolloutId,
      '"event":"upgrade.succeeded"',
      'too new',
      'main.js run',
      'accessKey: "***"',
    ])
      expect(everything).toContain(words);
    expect(gateSaid).toContain(`you are Bearer ${gateToken} at /shown?sig=${gateSignature}`);
    expect(everything).toContain('you are Bearer *** at ***');
    expect(way.cookies.size).toBeGreaterThan(0);
    const basicOf = (secret: string) => Buffer.from(secret).toString('base64');
    const secrets = [nightCredentials.accessKey, basicToken, token, gateToken, gateSignature, ...way.cookies];
    for (const secret of [...secrets, ...secrets.map(basicOf), ...secrets.map(encodeURIComponent)])
      expect(everything.includes(secret), `${secret.slice(0, 3)}… is shown`).toBe(false);
  });
});

describe.concurrent('a password of Redis with an @ in it (P12)', () => {
  it('is in no log line, no page, and no command, while Redis is away', async ({
    expect,
    onTestFinished,
  }) => {
    const folder = aFolder(onTestFinished);
    const place = `redis://127.0.0.1:${await findFreePort()}`;
    const file = folder.write('upwave.yaml', {
      ...nightConfig('http://127.0.0.1:1/api', {}),
      redis: { url: place.replace('//', `//:${redisPassword}@`) },
      http: { port: 0 },
    });
    const daemon = startUpwave({ cwd: folder.path, args: ['run', '--config', file] });
    onTestFinished(() => daemon.kill('SIGKILL'));
    const url = await daemonUrl(daemon);
    const told: string[] = [];
    await until('Redis to be missed', async () => {
      const answer = await request(`${url}/readyz`);
      const text = await answer.body.text();
      told.push(text);
      return text.includes(new URL(place).host) || undefined;
    });
    await until('a log line about it', () => daemon.out().includes('redis.unreachable') || undefined);
    const commands = [
      ['export', 'all'],
      ['config', 'check'],
      ['config', 'check', '--print'],
    ];
    await Promise.all(
      commands.map(async (args) => told.push((await callUpwave(...args, '--config', file)).all)),
    );
    daemon.kill('SIGTERM');
    told.push((await daemon.ended).all);
    const everything = told.join('\n');
    for (const words of [` ${place}"`, `Redis at ${place}`, `cannot reach Redis at ${place};`])
      expect(everything.includes(words), words).toBe(true);
    for (const part of redisPassword.split('@')) expect(everything.includes(part)).toBe(false);
  });
});

/** The command lines of a process and all below it, as everybody on the machine may read them. */
function argumentsOf(pid: number): readonly string[] {
  // Only where the kernel shows them so.
  if (!existsSync('/proc/self/cmdline')) return [];
  const read = (path: string) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // It has ended meanwhile.
      return '';
    }
  };
  const children = readdirSync('/proc').filter((entry) => {
    const parent = /^\d+$/.test(entry) ? /\) \S (\d+) /.exec(read(`/proc/${entry}/stat`))?.[1] : undefined;
    return Number(parent) === pid;
  });
  const own = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
  return [own, ...children.flatMap((child) => argumentsOf(Number(child)))];
}
