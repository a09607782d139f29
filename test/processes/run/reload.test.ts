import { describe, expect, it } from 'vitest';
import { startFakeReceiver } from '../../support/network/fake-receivers.ts';
import { nightConfig } from '../../support/night/daemon-night.ts';
import { useNights } from '../../support/night/nights.ts';
import { daemonUrl } from '../../support/night/upwave-process.ts';
import { testSecrets } from '../../support/test-secrets.ts';
import { until } from '../../support/until.ts';

const { aNightDesk } = useNights();
const slow = { waves: [{ name: 'all', maxFailures: '100%' }], concurrency: 1 };

describe('a reload of a running daemon', () => {
  it('replaces leaked tokens at once and notifies new receivers, without a restart and without a secret in the log', async (test) => {
    const receiver = await startFakeReceiver();
    test.onTestFinished(receiver.close);
    const leaked = 'the-token-that-leaked-17';
    const present = testSecrets.bearerToken;
    const tokens = (token: string) => ({ tokens: [{ name: 'ann', role: 'operator', token }] });
    const input = { scenario: { fleet: { size: 12 } }, rollout: slow };
    const { night, desk } = await aNightDesk(test, { ...input, http: tokens(leaked) });
    const daemon = desk.start('run');
    const url = await daemonUrl(daemon);
    const as = (token: string, path: string, body?: object) =>
      fetch(`${url}/api/v1${path}`, {
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
    const id = await until('a rollout', async () =>
      /night-\d+-1/.exec(await (await as(leaked, '/rollouts')).text())?.at(0),
    );
    const stream = await as(leaked, '/stream');

    const notify = [{ slack: { url: `${receiver.url}/${testSecrets.notifyPath}` }, events: ['finished'] }];
    desk.change(nightConfig(night.baseUrl, { ...input, http: tokens(present), notify }));
    const settings = ['http.tokens', 'notify'];
    expect(await (await as(leaked, '/reload-preview')).json()).toMatchObject({ settings, needsRestart: [] });
    const reloaded = await as(leaked, '/reload', {});
    expect(await reloaded.json()).toMatchObject({ kind: 'reloaded', settings, needsRestart: [] });

    // What the old token had opened ends; the text is read to its end.
    await stream.text();
    expect([(await as(leaked, '/rollouts')).status, (await as(present, '/rollouts')).status]).toEqual([
      401, 200,
    ]);
    expect((await as(present, `/rollouts/${id}/abort`, {})).status).toBe(200);
    await until('the message', () => receiver.posts.length > 0);
    const audit = await (await as(present, '/audit')).text();
    expect(audit).toContain('changed: http.tokens, notify');
    daemon.kill('SIGTERM');
    const { all } = await daemon.ended;
    for (const secret of [leaked, present, testSecrets.notifyPath]) expect(all + audit).not.toContain(secret);
  });
});
