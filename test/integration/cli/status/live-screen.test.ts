import { spawnSync } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aRolloutEvent, aRolloutStatus, makeFakeOperations } from '../../../support/fake-operations.ts';
import { startUpwave } from '../../../support/night/upwave-process.ts';
import { startPreview } from '../../../support/page/serve-page.ts';
import { startFakeAdminApi } from '../../../support/start-fake-admin-api.ts';
import { until } from '../../../support/until.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';

/** The live screen of a daemon with these operations, at a terminal. */
async function watch(operations: ReturnType<typeof makeFakeOperations>) {
  const api = await startFakeAdminApi(operations);
  onTestFinished(api.close);
  const args = ['status', '--watch', '--url', api.url];
  const screen = startUpwave({ args, env: { TERM: 'xterm' }, atTerminal: { columns: 120, rows: 40 } });
  onTestFinished(() => screen.kill('SIGKILL'));
  return { screen, shows: (words: string) => until(words, () => screen.out().includes(words)) };
}

const hasTerminal = spawnSync('script', ['--version']).status === 0;

describe.skipIf(!hasTerminal)('the live screen at a terminal (skipped where script is not installed)', () => {
  it('reads the events of the rollout at the cursor, and searches while words are typed', async () => {
    const id = 'production-20260302-1';
    const operations = makeFakeOperations({
      rollouts: [aRolloutStatus({ id }), aRolloutStatus({ id: 'shore-20260302-1', policy: 'shore' })],
      events: [aRolloutEvent({ rollout: id, event: 'rollout.paused', by: 'alice', reason: 'lunch' })],
      upgrades: ['web-7', 'db-1'].map((collectorName, collectorId) =>
        anEndedOne('failed', {}, { collectorId, collectorName }),
      ),
    });
    const { screen, shows } = await watch(operations);
    await shows('by alice: lunch');
    screen.type('/');
    await shows('search:');
    screen.type('web');
    await shows('collectors with "web"');
    await shows('web-7');
    expect(screen.out()).not.toContain('db-1');
    const printed = screen.out().length;
    screen.type('\u001b');
    // Without words none is listed, because the status has no failure.
    await until('no search', () =>
      screen.out().slice(printed).includes('failed, else to retry or in flight: none'),
    );
    screen.type('q');
    expect((await screen.ended).code).toBe(0);
  });

  it('releases the held build, with a reason and its Enter in one write', async () => {
    const buildHold = { build: '19.536-4', by: 'daemon', reason: 'it failed', at: 0 };
    const held = aRolloutStatus({ state: 'held', hold: 3, verbs: ['abort'], buildHold });
    const operations = makeFakeOperations({
      rollouts: [held],
      holdResults: { '19.536-4': { kind: 'done', subject: { kind: 'build', build: '19.536-4' } } },
    });
    const { screen, shows } = await watch(operations);
    await shows('l release build');
    screen.type('l');
    await shows('Release build 19.536-4?');
    screen.type('disk is fixed\r');
    await shows('done: release 19.536-4');
    expect(operations.holdRequests).toMatchObject([
      { did: 'release', subject: '19.536-4', reason: 'disk is fixed' },
    ]);
    screen.type('q');
    expect((await screen.ended).code).toBe(3);
  });

  it('starts a policy that waits for it, with the plan that it has shown', async () => {
    const agreed = { kind: 'agreed', others: 0 } as const;
    const scan = { lastScan: null, lastGoodAt: null, nextScanAt: null, config: agreed };
    const needs = { kind: 'start', reason: 'Redis lost its data' } as const;
    const operations = makeFakeOperations({
      rollouts: [aRolloutStatus({ state: 'succeeded', endedAt: 1 })],
      policies: { policies: [{ policy: 'production', ...scan, needs }], orphans: [] },
      preview: { kind: 'planned', preview: startPreview },
    });
    const { screen, shows } = await watch(operations);
    await shows('s start');
    screen.type('s');
    await shows('Start these 12 upgrades?');
    screen.type('y\r');
    await shows('done: start production');
    expect(operations.starts).toMatchObject([{ policy: 'production', planHash: '7f3a' }]);
    screen.type('q');
    await screen.ended;
  });

  it('ends when it is left while a list is on its way', async () => {
    let answer = (): void => undefined;
    const mayAnswer = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const all = makeFakeOperations({
      rollouts: [aRolloutStatus({}), aRolloutStatus({ id: 'edge-20260302-1' })],
    });
    let isAsked = false;
    const api = await startFakeAdminApi({
      ...all,
      searchUpgrades: async (...search) => {
        isAsked = true;
        await mayAnswer;
        return all.searchUpgrades(...search);
      },
    });
    onTestFinished(api.close);
    const env = { TERM: 'xterm' };
    const atTerminal = { columns: 120, rows: 40 };
    const screen = startUpwave({ args: ['status', '--watch', '--url', api.url], env, atTerminal });
    onTestFinished(() => screen.kill('SIGKILL'));
    await until('the list of policies', () => screen.out().includes('quit'));
    screen.type('\r');
    await until('the request', () => isAsked);
    screen.type('q');
    await until('the ordinary screen', () => screen.out().includes('\u001b[?1049l'));
    answer();
    expect((await screen.ended).code).toBe(0);
  });
});
