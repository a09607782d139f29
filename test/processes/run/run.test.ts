import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RolloutStatus } from '../../../src/contract/admin/rollout-status.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { startScriptedServer } from '../../support/network/scripted-server.ts';
import {
  createsReach,
  endOf,
  nightConfig,
  nightCredentials,
  scan,
} from '../../support/night/daemon-night.ts';
import { useNights } from '../../support/night/nights.ts';
import type { RunningTest } from '../../support/night/upwave-desk.ts';
import { daemonUrl } from '../../support/night/upwave-process.ts';
import { until } from '../../support/until.ts';

const nights = useNights();
type DeskInput = Parameters<typeof nights.aNightDesk>[1];

const aDesk = (test: RunningTest, input: DeskInput = {}) =>
  nights.aNightDesk(test, { scenario: { fleet: { size: 12 } }, ...input });

const retrying = /^No usable answer from the service \(.*\)\. Retrying for up to 1h\.$/gm;
const noStack = /^\s+at /m;
const slow = { waves: [{ name: 'all', maxFailures: '100%' }], concurrency: 1 };

describe.concurrent('upwave run --once', () => {
  it('ends with 0 after a good night, and shows how each wave went', async (test) => {
    const { desk } = await aDesk(test, { report: { directory: 'reports' } });
    const { code, out, err, all } = await desk.run('run', '--once', '--log-file', `${desk.file}.log`);
    const ofFormat = (format: string) => expect.stringMatching(`^night-\\d{8}-1\\.${format}$`);
    expect(readdirSync(join(desk.path, 'reports'))).toEqual([ofFormat('html'), ofFormat('md')]);
    expect(out).toMatch(/SUCCEEDED/);
    expect(out).toMatch(/canary .*passed/);
    expect(err).toMatch(/^upwave \d+\.\d+\.\d+: status and metrics at http:\/\/127\.0\.0\.1:\d+/);
    expect(all).not.toMatch(noStack);
    expect(code).toBe(0);
  });

  it('runs only the policy that it is given', async (test) => {
    const { night, desk } = await aDesk(test, { scenario: { fleet: { size: 3 } } });
    const { rollouts } = JSON.parse(JSON.stringify(nightConfig(night.baseUrl)));
    desk.change({ rollouts: [{ ...rollouts[0], name: 'other' }, ...rollouts] });
    const unknown = await desk.run('run', '--once', 'nigth');
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('did you mean night?')]);
    const { code, err } = await desk.run('run', '--once', 'night');
    expect([code, err.match(/^\w+(?=: started)/gm)]).toEqual([0, ['night']]);
  });

  it('ends with 1 when some upgrades failed, and names them with their reasons', async (test) => {
    const failures = [{ match: { count: 1 }, outcome: 'failed' as const, message: 'permission denied' }];
    const { desk } = await aDesk(test, {
      scenario: { fleet: { size: 12 }, failures },
      rollout: { select: { exclude: [] }, waves: slow.waves },
    });
    const { code, all } = await desk.run('run', '--once');
    expect(all).toMatch(/^failed\s+\d{9} \S+: permission denied$/m);
    expect([code, all]).toEqual([1, expect.stringContaining('FINISHED WITH FAILURES')]);
  });

  it('ends with 3 at once when the service shows no collector of the running rollout (P14)', async (test) => {
    const waves = [{ name: 'canary', size: 2, soak: '7d' }, { name: 'rest' }];
    const { night, desk } = await aDesk(test, { rollout: { waves } });
    const daemon = await night.startDaemon();
    const rolloutId = await scan(daemon);
    await daemon.close();
    for (const { facts } of night.service.world.collectors()) night.service.world.remove(facts.id);
    const { code, err } = await desk.run('run', '--once');
    expect(err).toMatch(new RegExp(`${rolloutId} was still running.* it is empty, .*check the access key`));
    expect(code).toBe(3);
  });

  it('ends with 3 when its policy selects no collector, like plan', async (test) => {
    const { desk } = await aDesk(test, { scenario: { fleet: { size: 0 } } });
    const { code, err } = await desk.run('run', '--once');
    expect([code, err]).toEqual([3, expect.stringContaining('check that the access key may see collectors')]);
  });

  it('ends with 2 and one clear line for a wrong key, which it does not print (P12)', async (test) => {
    const accessKey = 'a-wrong-key-0000';
    const { night, desk } = await aDesk(test, { service: { accessKey } });
    for (const result of [await desk.run('run', '--once'), await desk.call('plan')]) {
      const complaints = result.err.split('\n').filter((line) => line.startsWith('upwave: '));
      const says = expect.stringMatching(/does not accept the access key \(401\).*accessKey/);
      expect([result.code, complaints]).toEqual([2, [says]]);
      expect(result.all).not.toContain(accessKey);
      expect(result.all).not.toMatch(noStack);
    }
    const eu = { ...nightCredentials, accessKey, baseUrl: `${night.service.url}/api` };
    desk.change({ service: undefined, accounts: { eu }, rollouts: [{ name: 'web', account: 'eu' }] });
    const { err } = await desk.call('plan');
    expect(err).toContain('account eu: The service does not accept the access key (401)');
  });

  it('ends at once on Ctrl-C while it retries', async (test) => {
    const { desk } = await aDesk(test, { env: { UPWAVE_RETRY_FOR: '1h' } });
    const baseUrl = `http://127.0.0.1:${await findFreePort()}/api`;
    desk.change({ service: { baseUrl, ...nightCredentials } });
    const started = desk.start('run', '--once');
    await until('it to retry', () => started.err().includes('Retrying'));
    started.kill('SIGINT');
    const { code, signal, err, all } = await started.ended;
    expect(err.match(retrying)).toEqual([expect.stringContaining('ECONNREFUSED')]);
    expect(all).not.toMatch(noStack);
    expect([code, signal]).toEqual([4, null]);
  });

  it('runs beside a daemon that uses the port, and starts a build that only an operator may start', async (test) => {
    const port = await findFreePort();
    const { desk } = await aDesk(test, { http: { port }, rollout: { approval: true } });
    const url = await daemonUrl(desk.start('run'));
    // It listens before it has found its Redis, and answers 503 so long.
    const first = await until('a plan that waits', async () => {
      const answer = await fetch(`${url}/api/v1/rollouts`);
      const { rollouts } = answer.ok
        ? ((await answer.json()) as { rollouts: readonly RolloutStatus[] })
        : { rollouts: [] };
      return rollouts.find(({ state }) => state === 'awaitingApproval')?.id;
    });
    expect((await desk.call('abort', '--yes', '--url', url)).code).toBe(0);

    // The daemon itself would not start this build again.
    const { code, err, all } = await desk.run('run', '--once');
    expect(err).toContain(`continues without a port of its own: 127.0.0.1:${port} is in use`);
    const id = /^night: started (night-\d{8}-\d) with \d+ collectors$/m.exec(err)?.[1];
    expect(id).toBeDefined();
    // The second one of its day, unless another one has begun.
    expect(id).not.toBe(first);
    expect(all).not.toMatch(noStack);
    expect(code).toBe(3);
    // One Redis: the daemon knows of it, and of the scan.
    expect(JSON.parse((await desk.call('status', '--json', '--url', url)).out)).toMatchObject({
      rollouts: [{ id, state: 'awaitingApproval' }],
      policies: [{ policy: 'night', lastScan: { outcome: 'started' } }],
    });
  });
});

describe.concurrent('upwave plan', () => {
  it('shows the members of each wave and the collectors left out, without a Redis, and creates nothing', async (test) => {
    const { night, desk } = await aDesk(test);
    desk.change({ redis: { url: 'redis://127.0.0.1:1' } });
    const { code, out, err } = await desk.call('plan', 'night', '--members');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^night → 19\.536-4 {3}\d+ collectors {3}plan [0-9a-f]+$/m);
    expect(out).toMatch(/^ {2}left out {2}\d{9} .*: excluded$/m);
    const { plans } = JSON.parse((await desk.call('plan', '--json', '--members')).out) as {
      plans: ReadonlyArray<{
        waves: ReadonlyArray<{ members: ReadonlyArray<{ id: number; name: string }> }>;
      }>;
    };
    const members = plans.flatMap(({ waves }) => waves.flatMap((wave) => wave.members));
    expect(members.length).toBeGreaterThan(5);
    for (const { id, name } of members) expect(out).toContain(`${id} ${name}`);
    expect(night.record().creates).toEqual([]);
    const unknown = await desk.call('plan', 'nigth');
    expect([unknown.code, unknown.err]).toEqual([
      2,
      'upwave: there is no policy nigth; did you mean night?\n',
    ]);
  });
});

describe.concurrent('a policy that selects no collector', () => {
  it.for([['plan'], ['plan', '--json'], ['config', 'check', '--fleet']])(
    'ends `%s` with 3, for scripts',
    async (command, test) => {
      const { desk } = await aDesk(test, {
        scenario: { fleet: { size: 3 } },
        rollout: { select: { include: { osName: 'Lunix' } } },
      });
      const { code, out } = await desk.call(...command);
      expect([code, out]).toEqual([3, expect.stringMatching(/osName .*Lunix|"selected":\s*0/)]);
    },
  );
});

describe.concurrent('a running `upwave run` and its operator', () => {
  it('can be observed and controlled from another process: status, pause, resume, reload, abort, start', async (test) => {
    // One after the other and slow ones, so that it does not end before it is aborted.
    const durations = { median: '7m', p95: '8m', min: '6m', max: '9m' };
    const { night, desk } = await aDesk(test, {
      scenario: { fleet: { size: 25 }, durations },
      rollout: slow,
    });
    const daemon = desk.start('run');
    const url = await daemonUrl(daemon);
    const upwave = async (...args: string[]) => {
      const result = await desk.call(...args, '--url', url);
      expect(result.all).not.toMatch(noStack);
      return result;
    };
    const untilIdle = () => until('what runs to end', () => night.record().tasksInFlight === 0);
    const created = () => night.record().creates.length;
    await createsReach(night, 1);
    const status = await upwave('status');
    expect([status.code, status.out]).toEqual([
      0,
      expect.stringMatching(/^night-\d{8}-1 .* RUNNING wave 1\/1 all /m),
    ]);

    const paused = await upwave('pause', '--reason', 'lunch');
    expect(paused.out).toMatch(/ NEEDS YOU: it is paused /);
    expect(paused.out).toMatch(/^paused .*lunch$/m);
    expect(paused.code).toBe(0);
    const pausedAt = created();
    await untilIdle();
    expect(created()).toBe(pausedAt);
    const [{ hold }] = (
      JSON.parse((await upwave('status', 'night', '--json')).out) as { rollouts: [RolloutStatus] }
    ).rollouts;
    const resume = ['resume', 'night', '--hold', String(hold)];
    expect(JSON.parse((await upwave(...resume, '--json')).out)).toMatchObject({ state: 'running' });
    await createsReach(night, pausedAt + 1);

    // A config that is read anew reaches the running rollout, by signal and by command.
    const changePolicy = (changes: object) =>
      desk.change(nightConfig(night.baseUrl, { rollout: { ...slow, ...changes } }));
    const frozen = [{ from: '2020-01-01', to: '2090-01-01', reason: 'audit' }];
    changePolicy({ freezes: frozen });
    daemon.kill('SIGHUP');
    await until('the freeze', async () => (await upwave('status')).out.includes('frozen: audit'));
    const frozenAt = created();
    await untilIdle();
    expect(created()).toBe(frozenAt);

    const isReloaded = async () =>
      /^upwave_config_last_reload_successful (.)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
    changePolicy({ freezes: frozen, concurrency: 'many' });
    const refusedReload = await upwave('reload');
    expect([refusedReload.code, refusedReload.err]).toEqual([
      2,
      expect.stringMatching(/upwave\.yaml:\d+.*concurrency/),
    ]);
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({
      checks: { config: { ok: true, kind: 'refused' } },
    });
    expect(await isReloaded()).toBe('0');
    expect((await upwave('status')).out).toContain('The config file has errors');

    changePolicy({ concurrency: 2, select: { exclude: [] } });
    const preview = await upwave('reload', '--dry-run');
    expect(preview.out).toMatch(/^immediately +night-\d{8}-1 would follow: concurrency 1 → 2, freezes 2020/m);
    const diff = await upwave('diff', 'night', '--members');
    expect(diff.out).toContain(preview.out.trimEnd());
    expect(diff.out).toMatch(/^night → \S+ {3}plan \w+\s+compared with night-\d{8}-1 \(running\)$/m);
    const added = Number(/^new +(\d+) /m.exec(diff.out)?.[1]);
    expect(diff.out.match(/^ {2}new {2}\d+ \S+$/gm)).toHaveLength(added);
    expect(diff.code).toBe(0);
    // Neither of them has changed anything.
    expect((await upwave('status')).out).toContain('frozen: audit');
    const reloaded = await upwave('reload', '--reason', 'over');
    expect(reloaded.out).toMatch(/^now +night-\d{8}-1: concurrency 1 → 2, freezes 2020.* → none$/m);
    expect(reloaded.out).toMatch(/^later .*: select.exclude$/m);
    expect([reloaded.code, await isReloaded()]).toEqual([0, '1']);
    await createsReach(night, frozenAt + 1);
    const { out: audit } = await upwave('audit');
    expect(audit).toMatch(/ SIGHUP {2}config\.reloaded .*freezes none → 2020/);
    expect(audit).toMatch(/ rollout\.paused .*: lunch$/m);

    expect((await upwave('abort', '--yes')).code).toBe(0);
    const refused = await upwave(...resume);
    expect([refused.code, refused.err]).toEqual([
      3,
      'upwave: it is aborted, and only a paused or held rollout can resume\n',
    ]);
    // The schedule would not start this build again.
    await untilIdle();
    const unasked = await until('the abort to be over', async () => {
      const answer = await upwave('start', 'night');
      return answer.err.startsWith('night: plan') ? answer : undefined;
    });
    expect(unasked.err).toMatch(/^night: plan [0-9a-f]+: \d+ collectors to \S+ \(all \d+\)$/m);
    expect(unasked.code).toBe(3);
    const another = await upwave('start', 'night', '--plan', 'deadbeef');
    expect(another.err).toMatch(/^upwave: the plan is no longer deadbeef; it is now plan [0-9a-f]+: /m);
    expect(another.code).toBe(3);
    const command = /upwave (start night --plan [0-9a-f]+)$/m.exec(unasked.err)?.[1] ?? '';
    const started = await upwave(...command.split(' '), '--json');
    expect(JSON.parse(started.out)).toMatchObject({ id: expect.stringMatching(/-2$/), state: 'running' });
    const unknown = await upwave('pause', 'nobody');
    expect(unknown.err).toMatch(/^upwave: there is no rollout or policy nobody; running: /m);
    expect(unknown.code).toBe(2);
  });

  it('ends with 2 where another program uses the port', async (test) => {
    const stranger = await startScriptedServer();
    test.onTestFinished(stranger.close);
    const { desk } = await aDesk(test, { http: { port: stranger.port } });
    const taken = await desk.run('run');
    expect(taken.err).toMatch(`upwave: cannot listen on 127.0.0.1:${stranger.port} (EADDRINUSE)`);
    expect(taken.all).not.toMatch(noStack);
    expect(taken.code).toBe(2);
  });

  it('ends in time with 0 on SIGTERM and hands over, and the next daemon ends the rollout (P11)', async (test) => {
    const { night, desk } = await aDesk(test);
    const daemon = desk.start('run');
    await createsReach(night, 3);
    daemon.kill('SIGTERM');
    // The test of `closeInTime` holds the time limit. This one holds that everything was closed.
    const gone = await daemon.ended;
    expect(gone).toMatchObject({ code: 0, signal: null });
    expect(gone.out).toContain('"event":"daemon.stopped"');
    expect(gone.all).not.toMatch(noStack);
    const next = desk.start('run');
    const reader = await night.startDaemon();
    const [running] = await reader.operations.listRollouts();
    const { status, broken } = await endOf(night, reader, running?.id ?? '');
    expect([status.state, broken]).toEqual(['succeeded', []]);
    // The reader may have ended the rollout before this one took signals.
    await daemonUrl(next);
    next.kill('SIGINT');
    expect(await next.ended).toMatchObject({ code: 0, signal: null });
  });
});
