import { describe, it } from 'vitest';
import { sendJson, startScriptedServer } from '../../support/network/scripted-server.ts';
import { aStartedNight, untilEnded } from '../../support/night/daemon-night.ts';
import { useRedis } from '../../support/redis/redis.ts';

const redis = useRedis();

describe.concurrent('gates', () => {
  const gated = (gates: readonly object[]) => ({
    waves: [
      { name: 'canary', size: 4, soak: '300ms', maxFailures: 0, gates },
      { name: 'rest', maxFailures: '20%' },
    ],
  });
  const vector = (value: string) => ({
    status: 'success',
    data: { resultType: 'vector', result: [{ metric: {}, value: [0, value] }] },
  });

  it('go on when the query is met and the webhook agrees, and tell it the figures of the wave', async ({
    expect,
    onTestFinished,
  }) => {
    const server = await startScriptedServer(({ method }, r) =>
      method === 'GET' ? sendJson(r, 200, vector('0.998')) : sendJson(r, 204, undefined),
    );
    onTestFinished(() => server.close());
    const gates = [
      { prometheus: { url: server.url, query: 'up', expect: '>= 0.99' } },
      { prometheus: { url: server.url, query: 'down', expect: '< 0.1' }, name: 'watched', dryRun: true },
      { webhook: { url: `${server.url}/go` } },
    ];
    const { daemon, rolloutId } = await aStartedNight(
      { redis: redis.config(), scenario: { fleet: { size: 12 } }, rollout: gated(gates) },
      onTestFinished,
    );
    const ended = await untilEnded(daemon, rolloutId);
    expect(ended.state).toBe('succeeded');
    expect(ended.waves[0]?.gates.map(({ name, value }) => [name, value])).toEqual([
      ['prometheus', 0.998],
      ['watched', 0.998],
      ['webhook', null],
    ]);
    const told = server.requests.find(({ method }) => method === 'POST');
    expect(JSON.parse(told?.text ?? '')).toMatchObject({
      rollout: rolloutId,
      wave: 'canary',
      size: 4,
      succeeded: 4,
      failed: 0,
    });
  });
});
