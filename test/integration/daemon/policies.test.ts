import { describe, it } from 'vitest';
import { lossless } from '../../support/lossless.ts';
import { sendJson, startScriptedServer } from '../../support/network/scripted-server.ts';
import {
  aStartedNight,
  untilEnded,
  untilState,
  untilWave,
  upgradesOf,
} from '../../support/night/daemon-night.ts';
import { useRedis } from '../../support/redis/redis.ts';

const redis = useRedis();

describe.concurrent('a soak', () => {
  const waves = [
    { name: 'canary', size: 4, soak: '3s', maxFailures: 0 },
    { name: 'rest', maxFailures: '20%' },
  ];

  it('counts a collector that dies while its wave soaks, and holds the build everywhere', async ({
    expect,
    onTestFinished,
  }) => {
    const { night, daemon, rolloutId } = await aStartedNight(
      { redis: redis.config(), scenario: { fleet: { size: 15 } }, rollout: { waves } },
      onTestFinished,
    );
    await untilWave(daemon, rolloutId, { index: 0, state: 'soaking' });
    const victim = lossless(
      (await upgradesOf(daemon, rolloutId)).find(({ identity: { wave } }) => wave === 0),
    );
    night.service.world.kill(victim.identity.collectorId);
    const held = await untilState(daemon, rolloutId, 'held');
    expect(held.reason).toBe('wave canary: failures 3 (1 lost x 3), allowed 0');
    const after = (await upgradesOf(daemon, rolloutId)).find(
      ({ identity: { collectorId } }) => collectorId === victim.identity.collectorId,
    );
    expect(after).toMatchObject({ progress: { state: 'unconfirmed', lost: true } });
    expect(after).toHaveProperty('progress.reason', expect.stringMatching(/^died while its wave soaked/));
    expect(held.waves[1]?.counts.pending).toBe(held.waves[1]?.size);
    expect(held.buildHold?.build).toBe(held.targetBuild);
  });
});

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
