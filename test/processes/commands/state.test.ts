import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRedisConnection } from '../../../src/redis/connection/connection.ts';
import { startEmbeddedRedis } from '../../../src/redis/embedded/start-embedded-redis.ts';
import type { RolloutEvent } from '../../../src/rollout/model/events.ts';
import type { Upgrade } from '../../../src/rollout/model/upgrade.ts';
import { anUpgrade, aRollout, someGroups } from '../../support/builders.ts';
import { endOf, nightCredentials, nightPolicy, scan } from '../../support/night/daemon-night.ts';
import { useNights } from '../../support/night/nights.ts';
import { aDesk } from '../../support/night/upwave-desk.ts';
import { emptyRedis } from '../../support/redis/empty-redis.ts';
import { aRedisStore } from '../../support/redis/redis-adapters.ts';
import { makeRedisProcess, redisServerCommand } from '../../support/redis/redis-process.ts';

const { redis, aNightDesk } = useNights();
const service = { baseUrl: 'https://api.example.com/api', accessId: 'anId', accessKey: 'aKey' };
const rollouts = [{ name: 'production' }];
const noStack = /^\s+at /m;

describe.concurrent('`upwave export`', () => {
  it('writes the whole record of a rollout, one line for each part, without a secret (P9, P12)', async (test) => {
    const { night, desk } = await aNightDesk(test, { scenario: { fleet: { size: 20 } } });
    const daemon = await night.startDaemon();
    const rolloutId = await scan(daemon);
    const { status, upgrades } = await endOf(night, daemon, rolloutId);
    const events = (await daemon.operations.readEvents(rolloutId, 10_000)) ?? [];
    await daemon.close();

    const { code, out, err } = await desk.run('export', nightPolicy);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines[0]).toMatchObject({ kind: 'rollout', rollout: { id: rolloutId, state: 'succeeded' } });
    expect(lines[1]).toMatchObject({ kind: 'groups', groups: { domains: [] } });
    const written = <T>(kind: string) =>
      lines.flatMap((line) => (line['kind'] === kind ? [line[kind] as T] : []));
    expect(written<Upgrade>('upgrade')).toEqual(upgrades);
    expect(upgrades.length).toBe(status.planned);
    expect(written<RolloutEvent>('event')).toEqual(events.toReversed());
    const described = lines.filter((line) => line['kind'] === 'attributes');
    expect(described.map((line) => line['collectorId'])).toHaveLength(upgrades.length);
    expect(lines.length).toBe(2 + 2 * upgrades.length + events.length);
    for (const secret of Object.values(nightCredentials)) expect(out).not.toContain(secret);

    const file = join(desk.path, 'record.jsonl');
    expect(await desk.call('export', rolloutId, '--out', file)).toMatchObject({
      ...{ code: 0, all: `written: ${file}\n` },
    });
    expect(readFileSync(file, 'utf8')).toBe(out);
    const unknown = await desk.run('export', 'nonsense');
    expect(unknown).toMatchObject({ code: 2, out: '' });
    expect(unknown.err).toMatch(`there is no rollout or policy nonsense; the newest are ${rolloutId}`);
    await emptyRedis(redis.connect().commands, night.redis.keyPrefix);
    expect((await desk.call('export', nightPolicy)).err).toContain('Redis keeps none');
  });

  it('ends with 4 without a Redis, names the address, and shows no password (P12)', async (test) => {
    const desk = aDesk(test, { service, rollouts, redis: { url: 'redis://:hush-hush@127.0.0.1:1' } });
    const { code, err, all } = await desk.run('export', 'production');
    expect(err).toMatch(
      /^upwave: cannot reach Redis at redis:\/\/127\.0\.0\.1:1; start it, or correct redis\.url \(connect ECONNREFUSED /,
    );
    expect(all).not.toContain('hush-hush');
    expect(code).toBe(4);
    const embedded = await desk.run('export', 'production', '--redis', 'embedded');
    expect(embedded.err).toContain('the embedded Redis has no data here: ');
    expect(embedded.code).toBe(2);
    expect(existsSync(join(desk.path, '.upwave'))).toBe(false);
  });

  it.skipIf(redisServerCommand === undefined)(
    'reads the state of an embedded Redis from the disk when no daemon uses it, and is refused while one does',
    async (test) => {
      const desk = aDesk(test, { service, rollouts });
      const dataDir = join(desk.path, '.upwave', 'redis');
      const server = await startEmbeddedRedis({ dataDir, log: () => undefined });
      const connection = makeRedisConnection({ url: server.url, keyPrefix: 'upwave' }, 'worker');
      const store = aRedisStore({ commands: connection.commands, keyPrefix: 'upwave' });
      const upgrades = [anUpgrade({ state: 'pending' })];
      await store.freeze({ rollout: aRollout(), upgrades, groups: someGroups(), events: [] });
      await connection.close();
      const exported = () => desk.run('export', 'production', '--redis', 'embedded');
      const busy = await exported();
      expect(busy).toMatchObject({ code: 4, out: '' });
      expect(busy.err).toMatch(/another upwave uses .*; stop the daemon first\n$/);
      await server.close();
      const { code, out, err } = await exported();
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out.trimEnd().split('\n')).toHaveLength(3);
    },
  );
});

describe.skipIf(redisServerCommand === undefined)('a Redis that refuses a command to our user', () => {
  it('ends `export` at once, names the missing right, and shows no secret (P12)', async (test) => {
    const server = await makeRedisProcess();
    test.onTestFinished(() => server.close());
    await server.start();
    await server.ask(`ACL SETUSER limited on >hush-hush ~* &* +@all -@read`);
    const url = server.url.replace('//', '//limited:hush-hush@');
    const { code, err, all } = await aDesk(test, { service, rollouts, redis: { url } }).run(
      'export',
      'production',
    );
    const says = /^upwave: Redis at redis:\/\/127.*NOPERM.*; allow it to this user/m;
    expect([code, err]).toEqual([2, expect.stringMatching(says)]);
    expect(all).not.toMatch(noStack);
    expect(all).not.toMatch(/hush-hush|upwave:\{|args/);
  });
});
