import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RedisCommands } from '../../../src/redis/connection/connection.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { sendJson, sendText, startScriptedServer } from '../../support/network/scripted-server.ts';
import {
  createsReach,
  nightConfig,
  nightCredentials,
  nightPolicy,
  scan,
  statusOf,
  untilEnded,
} from '../../support/night/daemon-night.ts';
import { useNights } from '../../support/night/nights.ts';
import { aDesk } from '../../support/night/upwave-desk.ts';
import { daemonUrl } from '../../support/night/upwave-process.ts';
import { testSecrets } from '../../support/test-secrets.ts';
import { until } from '../../support/until.ts';

const { redis, aNight } = useNights();

const { bearerToken: token, gateSignature, gateToken } = testSecrets;
const bearer = { authorization: `Bearer ${token}` };
const signIn = `${nightCredentials.accessId}:${nightCredentials.accessKey}`;

/** What was shown anywhere; the secrets of the night in any form of theirs are not in it. */
function expectNoSecret(shown: readonly string[], more: readonly string[]): void {
  const everything = shown.join('\n');
  const base64 = (secret: string) => Buffer.from(secret).toString('base64');
  const secrets = [nightCredentials.accessKey, base64(signIn), token, ...more];
  for (const secret of [...secrets, ...secrets.map(base64), ...secrets.map(encodeURIComponent)])
    expect(everything.includes(secret), `${secret.slice(0, 3)}… is shown`).toBe(false);
}

/** The test looks at the right things: all of these are there. */
function expectAll(shown: readonly string[], words: readonly string[]): void {
  const everything = shown.join('\n');
  for (const each of words) expect(everything.includes(each), each).toBe(true);
}

/** Every key of this prefix with its whole content, as text. The access id is in none of them. */
async function dump(keyPrefix: string): Promise<string> {
  const { commands } = redis.connect();
  const keys = await commands.keys(`*${keyPrefix}*`);
  const lines = keys.map(async (key) => `${key} ${JSON.stringify(await contentOf(commands, key))}`);
  const text = (await Promise.all(lines)).join('\n');
  expect(text).not.toContain(nightCredentials.accessId);
  return text;
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
describe.concurrent('secrets (P12)', () => {
  it('of a daemon without its redaction of the log are in no log line, page, metric, answer or Redis key', async (test) => {
    const night = await aNight(test, {
      http: { token },
      // Nothing may rely on it alone.
      redactsLog: false,
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
      behave: () => ({ kind: 'pass' }),
    });
    const daemon = await night.startDaemon();
    const shown: string[] = [];
    const ask = async (path: string, init: RequestInit = {}) => {
      const answer = await fetch(`${daemon.url}${path}`, { headers: bearer, ...init });
      shown.push(`${path} ${JSON.stringify([...answer.headers])} ${await answer.text()}`);
      return answer.status;
    };
    const rolloutId = await scan(daemon);
    const rollout = `/api/v1/rollouts/${rolloutId}`;
    const status = untilEnded(daemon, rolloutId);
    shown.push(await dump(night.redis.keyPrefix));
    for (const authorization of [`Bearer ${token}x`, 'Bearer'])
      expect(await ask('/metrics', { headers: { authorization } })).toBe(401);
    expect(await ask(`${rollout}/pause`, { method: 'POST' })).toBe(200);
    shown.push(await dump(night.redis.keyPrefix));
    const body = JSON.stringify({ hold: (await statusOf(daemon, rolloutId)).hold });
    expect(await ask(`${rollout}/resume`, { method: 'POST', body })).toBe(200);
    expect((await status).state).toBe('succeeded');
    // The last answer of the service may have been one of the faults.
    expect([200, 503]).toContain(await ask('/readyz'));
    const paths = ['/', '/healthz', '/metrics', '/api/v1/openapi.json', '/api/v1/rollouts'];
    for (const path of [...paths, rollout, `${rollout}/collectors`, `${rollout}/events`])
      expect([path, await ask(path)]).toEqual([path, 200]);
    shown.push(await dump(night.redis.keyPrefix));
    await daemon.close();
    shown.push(daemon.logText());

    expectAll(shown, [rolloutId, 'upwave_api_requests_total', '"event":"upgrade.succeeded"']);
    const cookies = [...(night.way?.cookies ?? [])];
    expect(cookies.length).toBeGreaterThan(0);
    expectNoSecret(shown, cookies);
  });

  it('of processes are in no arguments, log, command output, audit, hold or export, also when a gate repeats them', async (test) => {
    const night = await aNight(test, { scenario: { fleet: { size: 12 } }, behave: () => ({ kind: 'pass' }) });
    // Repeats whatever it was sent, as a careless service does: in a refusal, in what it holds for, in a pass.
    const gateSaid: string[] = [];
    const gate = await startScriptedServer((seen, response) => {
      const said = `you are ${seen.headers.authorization} at ${seen.url}`;
      gateSaid.push(said);
      if (seen.path.startsWith('/shown')) return sendJson(response, 409, { reason: said });
      return gateSaid.length < 4 ? sendText(response, 401, said) : sendJson(response, 200, { reason: said });
    });
    test.onTestFinished(gate.close);
    const webhook = { every: '100ms', tokenFile: 'gate-token' };
    const gates = [
      { webhook: { ...webhook, url: gate.url } },
      { webhook: { ...webhook, urlFile: 'gate-url' }, name: 'shown', dryRun: true },
    ];
    const canary = { name: 'canary', size: 2, soak: '200ms', maxFailures: 1, gates };
    const rollout = { waves: [canary, { name: 'rest', maxFailures: '50%' }] };
    const base = nightConfig(night.baseUrl, { rollout }) as { service: Record<string, unknown> };
    const { accessKey: _inAFile, ...service } = base.service;
    const config = {
      ...base,
      service: { ...service, accessKeyFile: 'access-key' },
      redis: night.redis,
      http: { port: await findFreePort(), token: '$'.concat('{UPWAVE_TOKEN}') },
    };
    const desk = aDesk(test, config, { env: { UPWAVE_TOKEN: token } });
    for (const [name, secret] of [
      ['access-key', `${nightCredentials.accessKey}\n`],
      ['gate-token', `${gateToken}\n`],
      ['gate-url', `${gate.url}/shown?sig=${gateSignature}`],
      ['token', token],
    ] as const)
      desk.write(name, secret);
    const daemon = desk.start('run');
    const url = await daemonUrl(daemon);
    // The commands find the daemon where the config says.
    desk.change({ http: { port: config.http.port, tokenFile: 'token' } });

    const shown: string[] = [];
    const upwave = async (...args: readonly string[]) => {
      const { code, all } = await desk.call(...args);
      shown.push(`upwave ${args.join(' ')} → ${code}\n${all}`);
      return { code, all };
    };
    const ask = async (path: string) => {
      const answer = await fetch(`${url}${path}`, { headers: bearer });
      const text = await answer.text();
      shown.push(`${path} ${JSON.stringify([...answer.headers])} ${text}`);
      return { status: answer.status, text };
    };
    const rolloutId = await until('a rollout', async () => {
      const { rollouts = [] } = JSON.parse((await ask('/api/v1/rollouts')).text) as {
        rollouts?: ReadonlyArray<{ id: string }>;
      };
      return rollouts[0]?.id;
    });
    const path = `/api/v1/rollouts/${rolloutId}`;
    shown.push(...argumentsOf(daemon.pid), await dump(night.redis.keyPrefix));
    const build = '19.1-1';
    expect((await upwave('hold', build, '--reason', 'too new')).code).toBe(0);
    expect((await upwave('holds')).all).toContain(build);
    expect((await upwave('release', build)).code).toBe(0);
    await createsReach(night, 1);
    const collector = String(night.record().creates[0]?.collectorId);
    expect((await upwave('explain', collector)).all).toContain(nightPolicy);
    await upwave('pause', rolloutId, '--reason', 'a look');
    const { hold } = JSON.parse((await ask(path)).text) as { readonly hold: number };
    // It may be over by then: what is searched is what the commands print.
    await upwave('resume', rolloutId, '--hold', String(hold));
    await until('the end', async () =>
      /"state":"(succeeded|finishedWithFailures)"/.test((await ask(path)).text),
    );
    // Not one after the other: they only read.
    const reads = [
      ...[`status ${rolloutId}`, `status ${rolloutId} --json`, 'plan --members', `export ${rolloutId}`],
      ...['collectors list --json', 'builds', 'config check', 'config check --json'],
      ...['config check --print', 'config check --print --json'],
    ];
    await Promise.all(
      reads.map(async (words) => expect((await upwave(...words.split(' '))).code, words).toBe(0)),
    );
    const paths = ['/', '/readyz', '/metrics', '/api/v1/holds', '/api/v1/audit', path];
    const ofRollout = ['collectors', 'events', 'verbs'].map((part) => `${path}/${part}`);
    for (const each of [...paths, ...ofRollout, `/api/v1/collectors/${collector}/explanation`])
      expect([each, (await ask(each)).status]).toEqual([each, 200]);
    shown.push(await dump(night.redis.keyPrefix));
    daemon.kill('SIGTERM');
    shown.push((await daemon.ended).all);

    expectAll(shown, [
      rolloutId,
      '"event":"upgrade.succeeded"',
      'too new',
      'main.js run',
      'accessKey: "***"',
    ]);
    expect(gateSaid).toContain(`you are Bearer ${gateToken} at /shown?sig=${gateSignature}`);
    expectAll(shown, ['you are Bearer *** at ***']);
    const cookies = [...(night.way?.cookies ?? [])];
    expect(cookies.length).toBeGreaterThan(0);
    expectNoSecret(shown, [gateToken, gateSignature, ...cookies]);
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
