import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../support/network/free-port.ts';
import { aDaemonNight, nightConfig } from '../../support/night/daemon-night.ts';
import { callUpwave } from '../../support/night/upwave-call.ts';
import { aFolder, daemonUrl, startUpwave } from '../../support/night/upwave-process.ts';
import { useRedis } from '../../support/redis/redis.ts';
import { until } from '../../support/until.ts';

const redis = useRedis();

it('the brake works, and the daemon upgrades, while strangers hold more sockets than it has descriptors (P4)', async () => {
  const { url, keyPrefix } = redis.config();
  const night = await aDaemonNight(
    { redis: { url, keyPrefix }, scenario: { fleet: { size: 20 } } },
    onTestFinished,
  );
  const port = await findFreePort();
  const folder = aFolder(onTestFinished);
  const config = nightConfig(night.service.baseUrl, {
    rollout: { waves: [{ name: 'all', maxFailures: '20%' }] },
    http: { port },
  });
  const file = folder.write('upwave.yaml', { ...config, redis: { url, keyPrefix } });
  const daemon = startUpwave({ args: ['run', '--config', file], cwd: folder.path, openFilesMax: 256 });
  onTestFinished(() => daemon.kill('SIGKILL'));
  const at = await daemonUrl(daemon);
  const strangers = Array.from({ length: 400 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  onTestFinished(() => {
    for (const each of strangers) each.destroy();
  });
  await until(
    'all strangers to be through',
    () => strangers.every(({ connecting }) => !connecting) || undefined,
  );

  const begun = await until('creates to leave', async () => night.record().creates.length > 0 || undefined);
  expect(begun).toBe(true);
  const [rolloutId] = await until('the rollout', async () => {
    const { out } = await callUpwave('status', '--url', at, '--json');
    const ids = (JSON.parse(out || '{"rollouts":[]}').rollouts as Array<{ id: string }>).map(({ id }) => id);
    return ids.length > 0 ? ids : undefined;
  });
  const paused = await callUpwave('pause', rolloutId ?? '', '--reason', 'a test', '--url', at);
  expect(paused.err).toBe('');
  expect(paused.code).toBe(0);
});
