import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseScenario } from '../../../src/reference-service/scenario/scenario.ts';
import { startReferenceService } from '../../../src/reference-service/server/start-reference-service.ts';
import { anUpgrade, startedAt } from '../../support/builders.ts';
import {
  aRolloutEvent,
  aRolloutStatus,
  countsOf,
  makeFakeOperations,
} from '../../support/fake-operations.ts';
import { nightCredentials } from '../../support/night/daemon-night.ts';
import { aDesk, type Desk, type RunningTest } from '../../support/night/upwave-desk.ts';
import { startFakeAdminApi } from '../../support/start-fake-admin-api.ts';

const windows = { breaks: [{ match: { osName: 'Windows*' } }], failures: { once: '0%', always: '0%' } };

/** A config whose service has a fleet of 300. */
async function aFleetDesk(test: RunningTest, policy: object = {}): Promise<Desk> {
  const service = await startReferenceService({
    credentials: [nightCredentials],
    speed: 1,
    scenario: parseScenario({ fleet: { size: 300 } }),
  });
  test.onTestFinished(service.close);
  return aDesk(test, {
    service: { baseUrl: `${service.url}/api`, ...nightCredentials },
    rollouts: [{ name: 'production', timeZone: 'UTC', isolate: 'off', ...policy }],
  });
}

describe('upwave rehearse', () => {
  it('plays a bad build against the fleet of the service: in 80 columns, as JSON and as a page', async (test) => {
    const desk = await aFleetDesk(test);
    const file = desk.write('what-if.yaml', windows);
    const html = join(desk.path, 'rehearsal.html');
    const at = ['--at', '2026-11-22T21:00Z'];
    const play = ['rehearse', '--what-if', file, '--seeds', '4', ...at];
    const text = await desk.call(
      ...play,
      '--html',
      html,
      '--fail-if',
      'harmed.worst > 0',
      '--fail-if',
      'held > 100',
    );
    expect(text.code).toBe(1);
    expect(text.err).toBe(`written: ${html}\nfailed: harmed.worst > 0\n`);
    expect(text.out).toMatch(
      /^production → 19\.536-4 {3}\d+ collectors {3}begins 21:00 UTC\nplayed: +4 seeds\n/,
    );
    expect(text.out).toContain('held in 100% of the seeds: wave canary: ');
    expect(text.out).toContain('concurrency: a fifth');
    expect(text.out.split('\n').filter((line) => line.length > 80)).toEqual([]);

    const page = readFileSync(html, 'utf8');
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).toContain('aria-label="Waves from ');
    expect(page).toContain('What would have caught it earlier');
    expect(page).not.toMatch(/<script|https?:/);

    const json = await desk.call(...play, '--json', '--no-variants');
    expect(json.code).toBe(0);
    expect(JSON.parse(json.out)).toMatchObject({
      policy: 'production',
      seeds: 4,
      ends: [{ state: 'held', seeds: 4 }],
      heldPercent: 100,
      variants: [],
      failed: [],
    });
  });

  it('plays the other policies of the account, and late joiners', async (test) => {
    const service = await startReferenceService({
      credentials: [nightCredentials],
      speed: 1,
      scenario: parseScenario({ fleet: { size: 300 } }),
    });
    test.onTestFinished(service.close);
    const waves = [{ name: 'all', maxFailures: '100%' }];
    const of = (name: string, osName: string) => ({
      ...{ name, timeZone: 'UTC', waves, concurrency: 5 },
      select: { include: { osName } },
    });
    const desk = aDesk(test, {
      service: { baseUrl: `${service.url}/api`, ...nightCredentials },
      rollouts: [of('linux', 'Linux*'), of('windows', 'Windows*')],
    });
    const file = desk.write('what-if.yaml', {
      upAgain: { within: '1h' },
      installed: { count: 3, within: '1h' },
    });
    const play = ['rehearse', 'linux', '--seeds', '2', '--at', '2026-11-22T21:00Z'];
    const text = await desk.call(...play, '--what-if', file);
    expect(text.out).toMatch(/windows starts at 21:00:\s+\d+\s+collectors\s+→\s+19\.536-4/);
    expect(text.out).toMatch(/\njoined: +median [1-9]/);
    expect(text.out).toMatch(/3\s+collectors\s+are\s+installed\s+within\s+1h/);
    const own = await desk.call(...play, '--no-others');
    expect(own.out).not.toMatch(/windows|joined/);
    expect(own.out).toMatch(
      /not played: {4}collectors that come up again,\s+new collectors,[^┌]*other\s+policies/,
    );
  });

  it('counts collectors that no rollback returns, because the service no longer offers their build', async (test) => {
    const waves = [{ name: 'rest', maxFailures: '1%' }];
    const desk = await aFleetDesk(test, { onBreach: 'rollback', waves });
    const file = desk.write('what-if.yaml', windows);
    const played = await desk.call('rehearse', '--what-if', file, '--seeds', '2', '--no-variants');
    expect(played.out).toMatch(/^rolled back: +median [1-9].*\nleft behind: .*worst [1-9]/m);
  });

  it('takes a snapshot that `collectors list --json` wrote, and plays large ones in processes of their own', async (test) => {
    const desk = await aFleetDesk(test);
    const fleet = desk.write('fleet.json', (await desk.call('collectors', 'list', '--json')).out);
    // It calls nobody, so it needs no secrets.
    const service = {
      baseUrl: 'https://api.example.com/api',
      accessIdFile: 'nowhere',
      accessKeyFile: 'nowhere',
    };
    desk.change({ service });
    const of = ['rehearse', '--fleet', fleet, '--build', '19.536-4', '--json', '--at', '2026-11-22T21:00Z'];
    const few = JSON.parse((await desk.call(...of, '--seeds', '2')).out);
    expect(few).toMatchObject({ targetBuild: '19.536-4', harmed: { worst: 0 } });
    const many = JSON.parse((await desk.call(...of, '--seeds', '10')).out);
    expect(many.seeds).toBe(10);
    expect(many.planned).toBe(few.planned);
  });

  it('learns from the last rollout that the daemon knows', async (test) => {
    const desk = await aFleetDesk(test);
    const fleet = desk.write('fleet.json', (await desk.call('collectors', 'list', '--json')).out);
    const counts = countsOf({ succeeded: 75, failed: 25 });
    const rollout = aRolloutStatus({ state: 'finishedWithFailures', endedAt: startedAt, counts });
    const success = { event: 'upgrade.succeeded', collectorId: 7, attempt: 1, durationMs: 440_000 } as const;
    const taskEnd = { event: 'upgrade.verifying', collectorId: 7, at: startedAt - 20_000 } as const;
    const events = [aRolloutEvent({ ...success, at: startedAt }), aRolloutEvent(taskEnd)];
    const operations = makeFakeOperations({ rollouts: [rollout], events });
    const api = await startFakeAdminApi(operations);
    test.onTestFinished(api.close);
    const of = ['rehearse', '--fleet', fleet, '--build', '19.536-4', '--seeds', '1', '--learn', '--url'];
    const { out } = await desk.call(...of, api.url);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'an upgrade takes 7m (p95 7m), as in production-20260302-1; 0% fail once, 25% always',
    );
    expect(await desk.call(...of, 'http://127.0.0.1:9')).toMatchObject({ code: 4 });
  });

  describe('with --replay', () => {
    const minute = 60_000;
    const on = { startedAt: startedAt + minute, taskId: 'T1' };
    const ends = {
      done: { state: 'succeeded', reason: { kind: 'returned', late: false } },
      failed: { state: 'failed', reason: { kind: 'task', message: 'permission denied' } },
    } as const;

    /** A rollout of 40 Linux collectors, of which 12 failed, 20 were upgraded, and 8 were never started. */
    async function aReplay(test: RunningTest, changes: Parameters<typeof aRolloutStatus>[0] = {}) {
      const desk = await aFleetDesk(test);
      const text = (await desk.call('collectors', 'list', '--json')).out;
      const all: ReadonlyArray<{ readonly id: number; readonly osName: string }> =
        JSON.parse(text).collectors;
      const ids = all.filter(({ osName }) => osName === 'Linux').map(({ id }) => id);
      const upgrades = ids.slice(0, 40).map((collectorId, index) => {
        const of = { collectorId, order: index, attempts: 1, firstStartedAt: on.startedAt, tasks: [on] };
        if (index >= 32) return anUpgrade({ state: 'pending' }, { collectorId, order: index });
        const end = index % 8 < 3 ? ends.failed : ends.done;
        return anUpgrade({ ...end, endedAt: startedAt + 6 * minute, weight: 1, lost: false }, of);
      });
      const counts = countsOf({ succeeded: 20, failed: 12, pending: 8 });
      const rollout = aRolloutStatus({ state: 'aborted', endedAt: startedAt, counts, ...changes });
      const api = await startFakeAdminApi(makeFakeOperations({ rollouts: [rollout], upgrades }));
      test.onTestFinished(api.close);
      const fleet = desk.write('fleet.json', text);
      const replay = (...args: readonly string[]) =>
        desk.call('rehearse', '--fleet', fleet, '--seeds', '2', '--url', api.url, '--replay', ...args);
      return { desk, rollout, replay };
    }

    it('plays a past rollout again, and says what the policy changes', async (test) => {
      const { desk, rollout, replay } = await aReplay(test);
      const { id } = rollout;
      const { out, err } = await replay(id);
      expect(err).toBe('');
      expect(out).toContain(`${id}: 32 collectors as they went then; 8 whose`);
      expect(out).toMatch(/harmed: +median 1, p95 [12], worst [12] of (up to )?1[2-9] that fail for good/);
      expect(out.replace(/\s+/g, ' ')).toContain(
        'With this policy, 1 would have been harmed instead of 12, and',
      );
      const waves = [{ name: 'all', maxFailures: '100%' }];
      desk.change({ rollouts: [{ name: 'production', timeZone: 'UTC', isolate: 'off', waves }] });
      const json = JSON.parse((await replay('production', '--json')).out);
      expect(json).toMatchObject({
        harmed: { worst: json.broken.worst },
        replay: { harmed: 12, upgraded: 20 },
      });
      expect(json.replay.text).toBe(
        `With this policy, ${json.harmed.median} would have been harmed instead of 12, and ${json.upgraded.median} upgraded instead of 20.`,
      );
    });

    it('refuses a rollout that is unknown, running or a rollback, and assumptions that it has itself', async (test) => {
      const running = { state: 'running', endedAt: null, counts: countsOf({ upgrading: 3 }) } as const;
      const { rollout, replay, desk } = await aReplay(test, running);
      const { id } = rollout;
      const unknown = await replay('production-20200101-1');
      expect(unknown).toMatchObject({
        code: 2,
        err: expect.stringContaining('or its history has expired. '),
      });
      const { code, err } = await replay(id);
      expect([code, err]).toEqual([
        2,
        expect.stringContaining('3 of its collectors are in flight. Replay it when'),
      ]);
      const back = await aReplay(test, { kind: 'rollback', rollbackOf: 'production-20260301-1' });
      expect((await back.replay(id)).err).toContain('--replay production-20260301-1');
      const held = await aReplay(test, { state: 'held', endedAt: null, counts: countsOf({ failed: 12 }) });
      const file = desk.write('what-if.yaml', windows);
      expect((await held.replay(id, '--what-if', file)).err).toContain(
        'is that of the rollout with --replay; leave it out',
      );
    });
  });

  it('reports missing inputs before anything is played', async (test) => {
    const desk = await aFleetDesk(test);
    const fleet = desk.write('fleet.json', { collectors: [] });
    const wrong = desk.write('wrong.yaml', 'collectors: many');
    const cases: ReadonlyArray<readonly [readonly string[], string]> = [
      [['nope'], 'there is no policy nope; the config has production'],
      [['--fail-if', 'harmd.p95 > 5'], '"harmd" is unknown; did you mean "harmed"?'],
      [['--fleet', fleet], 'a fleet from a file has no available builds; name the build with --build'],
      [['--fleet', wrong, '--build', '19.536-4'], 'is not a fleet; write one with'],
      [['--fleet', fleet, '--build', '19.536-4'], 'production plans no collector for build 19.536-4'],
      [['--at', 'soon'], 'give an instant, such as 2026-11-22T21:00Z.'],
    ];
    for (const [args, words] of cases) {
      const { code, err } = await desk.call('rehearse', ...args);
      expect([code, err]).toEqual([2, expect.stringContaining(words)]);
    }
  });
});
