import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'vitest';
import type { ScenarioInput } from '../../../../src/reference-service/scenario/scenario.ts';
import type { RolloutStatus } from '../../../../src/rollout/status/status.ts';
import { findFreePort } from '../../../support/network/free-port.ts';
import { openTcpGate } from '../../../support/network/tcp-gate.ts';
import {
  aDaemonNight,
  type Night,
  nightConfig,
  nightCredentials,
  scan,
} from '../../../support/night/daemon-night.ts';
import { brokenPromises } from '../../../support/night/judge-night.ts';
import { type CallResult, callUpwave } from '../../../support/night/upwave-call.ts';
import {
  aFolder,
  daemonUrl,
  type ProcessResult,
  runUpwave,
  startUpwave,
  type UpwaveProcess,
} from '../../../support/night/upwave-process.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { until } from '../../../support/until.ts';

const redis = useRedis();

type AtEnd = Parameters<typeof aDaemonNight>[1] & Parameters<typeof aFolder>[0];

interface Desk {
  readonly night: Night;
  readonly file: string;
  readonly write: (changes: object) => string;
  readonly upwave: (...args: readonly string[]) => Promise<ProcessResult>;
  /** In the process of the test: for the words and the code of what keeps nothing open. */
  readonly call: (...args: readonly string[]) => Promise<CallResult>;
  readonly start: (...args: readonly string[]) => UpwaveProcess;
}

/** A service, a Redis, a config file, and `upwave` with it. */
async function aDesk(
  given: {
    readonly scenario?: ScenarioInput;
    readonly rollout?: Readonly<Record<string, unknown>>;
    readonly http?: Readonly<Record<string, unknown>>;
    readonly env?: Readonly<Record<string, string>>;
  },
  atEnd: AtEnd,
): Promise<Desk> {
  const { url, keyPrefix } = redis.config();
  const scenario = { fleet: { size: 12 }, ...given.scenario };
  const night = await aDaemonNight({ redis: { url, keyPrefix }, scenario }, atEnd);
  const folder = aFolder(atEnd);
  const { rollout = {}, http = {} } = given;
  const config = { ...nightConfig(night.service.baseUrl, { rollout, http }), redis: { url, keyPrefix } };
  const write = (changes: object) => folder.write('upwave.yaml', { ...config, ...changes });
  const file = write({});
  const start = (...args: readonly string[]) => {
    const started = startUpwave({
      args: [...args, '--config', file],
      cwd: folder.path,
      ...(given.env && { env: given.env }),
    });
    atEnd(async () => started.kill('SIGKILL'));
    return started;
  };
  const call = (...args: readonly string[]) => callUpwave(...args, '--config', file);
  return { night, file, write, start, call, upwave: (...args) => start(...args).ended };
}

interface Standing {
  readonly rollouts: readonly RolloutStatus[];
}

const noStack = /^\s+at /m;

describe.concurrent('upwave run --once', () => {
  it('ends with 0 after a good night, and says how each wave went', async ({ expect, onTestFinished }) => {
    const desk = await aDesk({}, onTestFinished);
    const { code, out, err } = await desk.upwave('run', '--once', '--log-file', `${desk.file}.log`);
    expect(out).toMatch(/SUCCEEDED/);
    expect(out).toMatch(/canary .*passed/);
    expect(err).toMatch(/^upwave \d+\.\d+\.\d+: status and metrics at http:\/\/127\.0\.0\.1:\d+/);
    expect(out + err).not.toMatch(noStack);
    expect(code).toBe(0);
  });

  it('ends with 1 when some failed, and names them with their reasons', async ({
    expect,
    onTestFinished,
  }) => {
    const failures = [{ match: { count: 1 }, outcome: 'failed' as const, message: 'permission denied' }];
    const desk = await aDesk(
      {
        scenario: { failures },
        rollout: { select: { exclude: [] }, waves: [{ name: 'all', maxFailures: '100%' }] },
      },
      onTestFinished,
    );
    const { code, all } = await desk.upwave('run', '--once');
    expect(all).toMatch(/FINISHED WITH FAILURES/);
    expect(all).toMatch(/^failed\s+\d{9} \S+: permission denied$/m);
    expect(all).not.toMatch(noStack);
    expect(code).toBe(1);
  });

  it('ends with 3 at once when the service shows no collector of the rollout on its way (P14)', async ({
    expect,
    onTestFinished,
  }) => {
    const waves = [
      { name: 'canary', size: 2, soak: '7d' },
      { name: 'rest', size: '100%' },
    ];
    const desk = await aDesk({ rollout: { waves } }, onTestFinished);
    const daemon = await desk.night.startDaemon();
    const rolloutId = await scan(daemon);
    await daemon.close();
    const { world } = desk.night.service;
    for (const { facts } of world.collectors()) world.remove(facts.id);
    const { code, err, all } = await desk.upwave('run', '--once');
    expect(err).toContain(`${rolloutId} is still on its way`);
    expect(err).toMatch(
      /it is empty, \d+ collectors are expected; check the access key, its role and service\.baseUrl/,
    );
    expect(all).not.toMatch(noStack);
    expect(code).toBe(3);
  });

  it('ends with 2 and one clear line for a wrong key, which it does not print', async ({
    expect,
    onTestFinished,
  }) => {
    const desk = await aDesk({}, onTestFinished);
    const accessKey = 'a-wrong-key-0000';
    desk.write({ service: { baseUrl: desk.night.service.baseUrl, ...nightCredentials, accessKey } });
    for (const args of [['run', '--once'], ['plan']]) {
      const { code, err, all } = await (args[0] === 'plan' ? desk.call : desk.upwave)(...args);
      const complaints = err.split('\n').filter((line) => line.startsWith('upwave: '));
      expect(complaints).toHaveLength(1);
      expect(complaints[0]).toMatch(/does not accept the access key \(401\).*service\.accessKey/);
      expect(all).not.toContain(accessKey);
      expect(all).not.toMatch(noStack);
      expect(code).toBe(2);
    }
  });

  it('retries its first read when that is cut off, and says so once', async ({ expect, onTestFinished }) => {
    const desk = await aDesk({ env: { UPWAVE_RETRY_FOR: '1h' } }, onTestFinished);
    const gate = await openTcpGate(Number(new URL(desk.night.service.baseUrl).port));
    onTestFinished(gate.close);
    gate.cut('refuse');
    desk.write(nightConfig(`http://127.0.0.1:${gate.port}/api`));
    const started = desk.start('plan', '--json');
    await until('it to retry', () => started.err().includes('Retrying') || undefined);
    gate.heal('all');
    const { code, out, err } = await started.ended;
    expect(err.match(/No usable answer from the service \(.*\)\. Retrying for up to 1h\.\n/g)).toHaveLength(
      1,
    );
    expect(() => JSON.parse(out)).not.toThrow();
    expect(code).toBe(0);
  });

  it('ends at once on Ctrl-C while it retries', async ({ expect, onTestFinished }) => {
    const desk = await aDesk({ env: { UPWAVE_RETRY_FOR: '1h' } }, onTestFinished);
    const port = await findFreePort();
    desk.write({ service: { baseUrl: `http://127.0.0.1:${port}/api`, ...nightCredentials } });
    const started = desk.start('run', '--once');
    await until('it to retry', () => started.err().includes('Retrying') || undefined);
    started.kill('SIGINT');
    const { code, signal, err, all } = await started.ended;
    expect(err).toMatch(
      /^No usable answer from the service \(.*ECONNREFUSED.*\)\. Retrying for up to 1h\.$/m,
    );
    expect(all).not.toMatch(noStack);
    expect(signal).toBeNull();
    expect(code).toBe(4);
  });

  it('refuses a port that another one has, and names it', async ({ expect, onTestFinished }) => {
    const taken = await aServer(onTestFinished);
    const desk = await aDesk({ http: { port: taken } }, onTestFinished);
    const { code, err, all } = await desk.upwave('run');
    expect(err).toMatch(
      new RegExp(`^upwave: cannot listen on 127\\.0\\.0\\.1:${taken} \\(EADDRINUSE\\)`, 'm'),
    );
    expect(all).not.toMatch(noStack);
    expect(code).toBe(2);
  });

  it('goes on beside a daemon that has the port, and starts what only an operator starts', async ({
    expect,
    onTestFinished,
  }) => {
    const port = await findFreePort();
    const desk = await aDesk({ http: { port }, rollout: { approval: true } }, onTestFinished);
    const daemon = desk.start('run');
    const url = await daemonUrl(daemon);
    const policies = async () =>
      JSON.parse((await desk.call('status', '--json', '--url', url)).out) as Standing;
    // It listens before it has found its Redis, and answers 503 so long.
    const first = await until('a plan that waits', async () => {
      const answer = await fetch(`${url}/api/v1/rollouts`);
      const rollouts = answer.ok ? ((await answer.json()) as Standing).rollouts : [];
      return rollouts.find(({ state }) => state === 'awaitingApproval')?.id;
    });
    expect((await desk.call('abort', '--url', url)).code).toBe(0);

    // The daemon itself would not start this build again.
    const { code, err, all } = await desk.upwave('run', '--once');
    expect(err).toContain(`continues without a port of its own: 127.0.0.1:${port} is taken`);
    const id = /^night: started (night-\d{8}-\d) with \d+ collectors$/m.exec(err)?.[1];
    expect(id).toBeDefined();
    // The second one of its day, unless another one has begun.
    expect(id).not.toBe(first);
    expect(all).not.toMatch(noStack);
    expect(code).toBe(3);
    // One Redis: the daemon knows of it, and of the look.
    expect(await policies()).toMatchObject({
      rollouts: [{ id, state: 'awaitingApproval' }],
      policies: [{ policy: 'night', lastScan: { outcome: 'started' } }],
    });
  });
});

/** Something that has a port. @returns the port */
async function aServer(atEnd: AtEnd): Promise<number> {
  const server: Server = createServer((_request, answer) => answer.end('not upwave'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return (server.address() as AddressInfo).port;
}

describe.concurrent('upwave plan', () => {
  it('shows waves and who is left out, without a Redis, and creates nothing', async ({
    expect,
    onTestFinished,
  }) => {
    const desk = await aDesk({}, onTestFinished);
    desk.write({ redis: { url: 'redis://127.0.0.1:1' } });
    const { code, out, err } = await desk.call('plan');
    expect(out).toMatch(/^night → 19\.536-4 {3}\d+ collectors {3}plan [0-9a-f]+$/m);
    for (const wave of ['canary', 'early', 'rest']) expect(out).toContain(wave);
    expect(out).toMatch(/^takes about \S+ .* and \d+ requests, would end about /m);
    expect(out).toMatch(/^left out: /m);
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(desk.night.record().creates).toEqual([]);
  });

  it('names every collector with --members, and is for programs with --json', async ({
    expect,
    onTestFinished,
  }) => {
    const desk = await aDesk({}, onTestFinished);
    const text = await desk.call('plan', 'night', '--members');
    const json = await desk.call('plan', '--json', '--members');
    const { plans } = JSON.parse(json.out) as {
      plans: ReadonlyArray<{
        waves: ReadonlyArray<{ size: number; members: ReadonlyArray<{ id: number; name: string }> }>;
      }>;
    };
    const members = plans.flatMap(({ waves }) => waves.flatMap((wave) => wave.members));
    expect(members.length).toBeGreaterThan(5);
    for (const { id, name } of members) expect(text.out).toContain(`${id} ${name}`);
    expect(text.out).toMatch(/^ {2}left out {2}\d{9} .*: excluded$/m);
    expect([text.code, json.code]).toEqual([0, 0]);
  });

  it('ends with 2 for a policy that is not in the config, and names those that are', async ({
    expect,
    onTestFinished,
  }) => {
    const desk = await aDesk({}, onTestFinished);
    const { code, err } = await desk.call('plan', 'nigth');
    expect(err).toBe('upwave: no policy is called nigth; there are night\n');
    expect(code).toBe(2);
  });
});

describe.concurrent('a running `upwave run` and its operator', () => {
  const slow = { waves: [{ name: 'all', maxFailures: '100%' }], concurrency: 1 };

  it('is seen and steered from another process: status, pause, resume, abort', async ({
    expect,
    onTestFinished,
  }) => {
    // One after the other and slow ones, so that it does not end before it is aborted.
    const scenario = {
      fleet: { size: 25 },
      durations: { median: '7m', p95: '8m', min: '6m', max: '9m' },
    };
    const desk = await aDesk({ scenario, rollout: slow }, onTestFinished);
    const daemon = desk.start('run');
    const url = await daemonUrl(daemon);
    await until('a first create', () => desk.night.record().creates.length > 0);

    const status = await desk.call('status', '--url', url);
    expect(status.out).toMatch(/^night-\d{8}-1 .* RUNNING wave 1\/1 all /m);
    expect(status.code).toBe(0);
    const json = await desk.call('status', 'night', '--json', '--url', url);
    expect(JSON.parse(json.out)).toMatchObject({ rollouts: [{ policy: 'night', state: 'running' }] });

    const paused = await desk.call('pause', '--reason', 'lunch', '--url', url);
    expect(paused.out).toMatch(/ NEEDS YOU: it is paused /);
    expect(paused.out).toMatch(/^paused .*lunch$/m);
    expect(paused.code).toBe(0);
    const { length } = desk.night.record().creates;
    expect((await desk.call('pause', '--url', url)).code).toBe(0);
    await until('the running one to end', () => desk.night.record().tasksInFlight === 0);
    expect(desk.night.record().creates.length).toBe(length);

    const shown = await desk.call('status', 'night', '--json', '--url', url);
    const [{ hold }] = (JSON.parse(shown.out) as { readonly rollouts: [RolloutStatus] }).rollouts;
    const resume = ['resume', 'night', '--hold', String(hold), '--url', url];
    const resumed = await desk.call(...resume, '--json');
    expect(JSON.parse(resumed.out)).toMatchObject({ state: 'running' });
    await until('another create', () => desk.night.record().creates.length > length);

    // A config that is read anew reaches the rollout on its way, by signal and by command.
    const writeRollouts = (changes: object) => {
      const { rollouts } = nightConfig(desk.night.service.baseUrl, { rollout: { ...slow, ...changes } }) as {
        readonly rollouts: unknown;
      };
      desk.write({ rollouts });
    };
    const frozen = [{ from: '2020-01-01', to: '2090-01-01', reason: 'audit' }];
    writeRollouts({ freezes: frozen });
    daemon.kill('SIGHUP');
    await until('the freeze', async () =>
      (await desk.call('status', '--url', url)).out.includes('frozen: audit'),
    );
    const { length: frozenAt } = desk.night.record().creates;
    await until('what runs to end', () => desk.night.record().tasksInFlight === 0);
    expect(desk.night.record().creates.length).toBe(frozenAt);

    writeRollouts({ freezes: frozen, concurrency: 'many' });
    const refusedReload = await desk.call('reload', '--url', url);
    expect(refusedReload.err).toMatch(/upwave\.yaml:\d+.*concurrency/);
    expect(refusedReload.code).toBe(2);
    const ready = await fetch(`${url}/readyz`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toMatchObject({ checks: { config: { ok: true, kind: 'refused' } } });
    const failedMetrics = await (await fetch(`${url}/metrics`)).text();
    expect(failedMetrics).toContain('upwave_config_last_reload_successful 0');
    expect((await desk.call('status', '--url', url)).out).toContain('The config file has mistakes');

    writeRollouts({ concurrency: 2, select: { exclude: [] } });
    const reloaded = await desk.call('reload', '--reason', 'over', '--url', url);
    expect(reloaded.out).toMatch(/^now +night-\d{8}-1: concurrency 1 → 2, freezes 2020.* → none$/m);
    expect(reloaded.out).toMatch(/^later .*: select.exclude$/m);
    expect(reloaded.code).toBe(0);
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('upwave_config_last_reload_successful 1');
    await until('creates again', () => desk.night.record().creates.length > frozenAt);
    const audit = await (await fetch(`${url}/api/v1/audit`)).json();
    expect(audit).toMatchObject({
      entries: [
        { event: 'config.reloaded', reason: expect.stringMatching(/^night: .*concurrency 1 → 2.*; over$/) },
        { event: 'config.reloaded', by: 'SIGHUP', reason: expect.stringContaining('freezes none → 2020') },
        { event: 'rollout.resumed' },
        { event: 'rollout.paused', reason: 'lunch' },
      ],
    });

    expect((await desk.call('abort', '--url', url)).code).toBe(0);
    const refused = await desk.call(...resume);
    expect(refused.err).toMatch(/^upwave: it is aborted, and only a paused or held one resumes$/m);
    expect(refused.code).toBe(3);
    // The schedule would not start this build again.
    await until('what runs to end', () => desk.night.record().tasksInFlight === 0);
    const unasked = await until('the abort to be over', async () => {
      const answer = await desk.call('start', 'night', '--url', url);
      return answer.code === 3 ? undefined : answer;
    });
    expect(unasked.err).toMatch(/^night: plan [0-9a-f]+: \d+ collectors to \S+ \(all \d+\)$/m);
    const command = /upwave (start night --plan [0-9a-f]+)$/m.exec(unasked.err)?.[1] ?? '';
    expect(unasked.code).toBe(2);
    const another = await desk.call('start', 'night', '--plan', 'deadbeef', '--url', url);
    expect(another.err).toMatch(/^upwave: the plan is not deadbeef any more; now it is plan [0-9a-f]+: /m);
    expect(another.code).toBe(3);
    const started = await desk.call(...command.split(' '), '--json', '--url', url);
    expect(JSON.parse(started.out)).toMatchObject({ id: expect.stringMatching(/-2$/), state: 'running' });

    const unknown = await desk.call('pause', 'nobody', '--url', url);
    expect(unknown.err).toMatch(/^upwave: no rollout and no policy is called nobody; running: /m);
    expect(unknown.code).toBe(2);
    for (const { all } of [status, paused, resumed, refused, unknown]) expect(all).not.toMatch(noStack);
  });

  it('wants the token where one is set', async ({ expect, onTestFinished }) => {
    const UPWAVE_TOKEN = 'the-token-of-this-test';
    const port = await findFreePort();
    const desk = await aDesk(
      { rollout: slow, http: { port, token: '$'.concat('{UPWAVE_TOKEN}') }, env: { UPWAVE_TOKEN } },
      onTestFinished,
    );
    const url = await daemonUrl(desk.start('run'));
    // It listens before it has found its Redis, and answers 503 so long.
    await until('it to have found its Redis', async () => (await fetch(`${url}/readyz`)).ok);
    const ask = (env: Record<string, string>, ...args: string[]) =>
      runUpwave({ args: ['status', ...args], env });
    const without = await callUpwave('status', '--url', url);
    expect(without.err).toBe('upwave: a bearer token is needed\n');
    const wrong = await ask({ UPWAVE_TOKEN: 'another' }, '--url', url);
    expect(wrong.err).toBe('upwave: the token is wrong\n');
    expect([without.code, wrong.code]).toEqual([2, 2]);
    // From the config alone, the address too.
    expect(await desk.upwave('status')).toMatchObject({ code: 0, err: '' });
    for (const { all } of [without, wrong]) expect(all).not.toContain(UPWAVE_TOKEN);
  });

  it('ends with 4 where no daemon answers, and where another program does', async ({
    expect,
    onTestFinished,
  }) => {
    const nobody = `http://127.0.0.1:${await findFreePort()}`;
    const stranger = `http://127.0.0.1:${await aServer(onTestFinished)}`;
    for (const command of ['status', 'pause']) {
      const { code, err } = await callUpwave(command, '--url', nobody);
      expect(err).toMatch(new RegExp(`^upwave: no answer from ${nobody}: .*\n$`));
      expect(err).not.toMatch(noStack);
      expect(code).toBe(4);
    }
    const { code, err } = await callUpwave('status', '--url', stranger);
    expect(err).toContain(`upwave: no upwave daemon answers at ${stranger}`);
    expect(code).toBe(4);
  });

  it('ends in time with 0 on SIGTERM, hands over, and a next one ends the rollout', async ({
    expect,
    onTestFinished,
  }) => {
    const desk = await aDesk({}, onTestFinished);
    const daemon = desk.start('run');
    await until('creates', () => desk.night.record().creates.length >= 3);
    daemon.kill('SIGTERM');
    // The bound is in the test of `closeInTime`; here all was closed.
    const gone = await daemon.ended;
    expect(gone).toMatchObject({ code: 0, signal: null });
    expect(gone.out).toContain('"event":"daemon.stopped"');
    expect(gone.all).not.toMatch(noStack);
    const next = desk.start('run');
    const reader = await desk.night.startDaemon();
    const status = await until('the end', async () => {
      const [latest] = await reader.operations.listRollouts();
      return latest?.state === 'succeeded' && latest;
    });
    const upgrades = await reader.operations.listUpgrades(status.id, { offset: 0, limit: 1_000 });
    expect(brokenPromises(desk.night, status, upgrades ?? [])).toEqual([]);
    next.kill('SIGINT');
    expect(await next.ended).toMatchObject({ code: 0, signal: null });
  });
});
