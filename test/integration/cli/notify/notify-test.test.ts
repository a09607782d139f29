import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startFakeReceiver } from '../../../support/network/fake-receivers.ts';
import { callUpwave } from '../../../support/night/upwave-call.ts';
import { testSecrets } from '../../../support/test-secrets.ts';

const { notifyPath } = testSecrets;

/** A config with a receiver that takes messages, and one that does not. */
async function aConfig() {
  const receiver = await startFakeReceiver((_number, { path }) => (path.startsWith('/good') ? 200 : 404));
  onTestFinished(receiver.close);
  const file = join(mkdtempSync(join(tmpdir(), 'upwave-notify-')), 'upwave.yaml');
  const config = {
    service: { baseUrl: 'http://127.0.0.1:9', accessId: 'id', accessKey: 'key' },
    notify: ['good', 'bad'].map((name) => ({
      name,
      slack: { url: `${receiver.url}/${name}/${notifyPath}` },
    })),
    rollouts: [{ name: 'all' }],
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return { receiver, file };
}

describe('upwave notify test', () => {
  it('sends a message to every receiver, and ends with 4 when one of them takes none', async () => {
    const { receiver, file } = await aConfig();
    const { code, out } = await callUpwave('notify', 'test', '--config', file);
    expect({ code, out }).toEqual({ code: 4, out: 'good: sent\nbad: failed: answered 404\n' });
    expect(receiver.posts.map(({ body }) => body)).toEqual([
      expect.stringContaining('test message'),
      expect.stringContaining('test message'),
    ]);
  });

  it('sends to one of them by its name, and names the nearest one where there is none', async () => {
    const { receiver, file } = await aConfig();
    const one = await callUpwave('notify', 'test', 'good', '--json', '--config', file);
    expect([one.code, JSON.parse(one.out)]).toEqual([0, { results: [{ receiver: 'good', kind: 'sent' }] }]);
    const none = await callUpwave('notify', 'test', 'godo', '--config', file);
    expect([none.code, none.err]).toEqual([2, 'upwave: no receiver is called godo; did you mean good?\n']);
    expect(receiver.posts).toHaveLength(1);
  });
});
