import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createsReach, endOf, scan } from '../../support/night/daemon-night.ts';
import { createdTwice } from '../../support/night/judge-night.ts';
import { useNights } from '../../support/night/nights.ts';
import { daemonUrl } from '../../support/night/upwave-process.ts';
import { until } from '../../support/until.ts';

const { aNight, aNightDesk } = useNights();
const rollout = { waves: [{ name: 'all', maxFailures: '5%' }] };
const scenario = { fleet: { size: 25 } };

describe.concurrent('a daemon in the middle of a rollout', () => {
  it('closes while requests wait for their place in the budget, and sends nothing more (P11)', async (test) => {
    const night = await aNight(test, { scenario, rollout });
    const daemon = await night.startDaemon();
    await scan(daemon);
    await createsReach(night, 3);
    await daemon.close();
    const { creates, requests } = night.record();
    await until('the end of what runs', () => night.record().tasksInFlight === 0);
    expect(night.record()).toMatchObject({ creates: { length: creates.length }, requests });
    expect(daemon.log.at(-1)?.event).toBe('daemon.stopped');
    expect(daemon.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('is killed, again and again: no collector gets two tasks, and the rollout succeeds (P1, P11)', async (test) => {
    // A create that was cut off is settled when its answer can't come any more.
    const input = { scenario, rollout, service: { requestTimeout: '500ms' } };
    const { night, desk } = await aNightDesk(test, input);
    for (const count of [4, 10]) {
      const daemon = desk.start('run');
      // It is back at work when creates come again.
      await createsReach(night, count);
      daemon.kill('SIGKILL');
      expect(await daemon.ended).toMatchObject({ code: null, signal: 'SIGKILL' });
    }
    desk.start('run');
    const reader = await night.startDaemon();
    const rolloutId = await until('the rollout', async () => (await reader.operations.listRollouts())[0]?.id);
    const { status, broken } = await endOf(night, reader, rolloutId);
    expect(status).toMatchObject({ state: 'succeeded', counts: { succeeded: status.planned } });
    expect(createdTwice(night.record())).toEqual([]);
    expect(broken).toEqual([]);
  });

  it('upgrades and accepts a pause while other clients open more sockets than it has descriptors (P4)', async (test) => {
    // One after the other, so that it does not end before it is paused.
    const slow = { ...rollout, concurrency: 1 };
    const { night, desk } = await aNightDesk(test, { scenario, rollout: slow, openFilesMax: 256 });
    const url = await daemonUrl(desk.start('run'));
    const port = Number(new URL(url).port);
    const strangers = Array.from({ length: 400 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    test.onTestFinished(() => {
      for (const each of strangers) each.destroy();
    });
    await until('all clients to be connected', () => strangers.every(({ connecting }) => !connecting));
    await createsReach(night, 1);
    const paused = await desk.call('pause', '--reason', 'a test', '--url', url);
    expect([paused.code, paused.err]).toEqual([0, '']);
  });
});
