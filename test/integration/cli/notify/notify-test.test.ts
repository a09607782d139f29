import { describe, expect, it, onTestFinished } from 'vitest';
import { startFakeReceiver } from '../../../support/network/fake-receivers.ts';
import { aDesk } from '../../../support/night/upwave-desk.ts';
import { testSecrets } from '../../../support/test-secrets.ts';

/** A config with a receiver that takes messages, and one that does not. */
async function aConfig() {
  const receiver = await startFakeReceiver((_number, { path }) => (path.startsWith('/good') ? 200 : 404));
  onTestFinished(receiver.close);
  const notify = ['good', 'bad'].map((name) => ({
    name,
    slack: { url: `${receiver.url}/${name}/${testSecrets.notifyPath}` },
  }));
  const service = { baseUrl: 'http://127.0.0.1:9', accessId: 'id', accessKey: 'key' };
  return { receiver, ...aDesk({ onTestFinished }, { service, notify, rollouts: [{ name: 'all' }] }) };
}

describe('upwave notify test', () => {
  it('sends a message to every receiver, and ends with 4 when one of them fails', async () => {
    const { receiver, call } = await aConfig();
    const { code, out } = await call('notify', 'test');
    expect({ code, out }).toEqual({ code: 4, out: 'good: sent\nbad: failed: answered 404\n' });
    const message = expect.stringContaining('test message');
    expect(receiver.posts.map(({ text }) => text)).toEqual([message, message]);
  });

  it('sends to one receiver by its name, and suggests the nearest name for an unknown one', async () => {
    const { receiver, call } = await aConfig();
    const one = await call('notify', 'test', 'good', '--json');
    expect([one.code, JSON.parse(one.out)]).toEqual([0, { results: [{ receiver: 'good', kind: 'sent' }] }]);
    const none = await call('notify', 'test', 'godo');
    expect([none.code, none.err]).toEqual([2, 'upwave: there is no receiver godo; did you mean good?\n']);
    expect(receiver.posts).toHaveLength(1);
  });
});
