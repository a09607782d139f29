import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeRedisConnection } from '../../../../src/redis/connection/connection.ts';
import { findOnPath, startEmbeddedRedis } from '../../../../src/redis/embedded/start-embedded-redis.ts';
import { makeRedisRolloutStore } from '../../../../src/redis/rollout-store/rollout-store.ts';
import type { RolloutEvent } from '../../../../src/rollout/model/events.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { anUpgrade, aRollout, someGroups } from '../../../support/builders.ts';
import {
  aDaemonNight,
  nightConfig,
  nightCredentials,
  nightPolicy,
  scan,
  untilEnded,
  upgradesOf,
} from '../../../support/night/daemon-night.ts';
import { callUpwave } from '../../../support/night/upwave-call.ts';
import { aFolder, type Folder, runUpwave } from '../../../support/night/upwave-process.ts';
import { emptyRedis } from '../../../support/redis/empty-redis.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { makeRedisProcess, redisServerCommand } from '../../../support/redis/redis-process.ts';

const redis = useRedis();
const rollout = { waves: [{ name: 'all', maxFailures: '5%' }] };
const scenario = { fleet: { size: 20 } };
const noStack = /^\s+at /m;

async function aNight(atEnd: (work: () => Promise<void> | void) => void) {
  const config = redis.config();
  const night = await aDaemonNight({ redis: config, scenario, rollout }, atEnd);
  const folder = aFolder(atEnd);
  const { url, keyPrefix } = config;
  const file = folder.write('upwave.yaml', {
    ...nightConfig(night.service.baseUrl, { rollout }),
    redis: { url, keyPrefix },
  });
  const upwave = (...args: string[]) => callUpwave(...args, '--config', file);
  // A process has to end by itself, too, whatever it had opened.
  const upwaveProcess = (...args: string[]) =>
    runUpwave({ args: [...args, '--config', file], cwd: folder.path });
  return { night, keyPrefix, upwave, upwaveProcess, inFolder: (name: string) => join(folder.path, name) };
}

describe.concurrent('`upwave export`', () => {
  it('writes the whole record of a rollout, a line each, without a secret (P9, P12)', async ({
    onTestFinished,
  }) => {
    const { night, keyPrefix, upwave, upwaveProcess, inFolder } = await aNight(onTestFinished);
    const daemon = await night.startDaemon();
    const rolloutId = await scan(daemon);
    const status = await untilEnded(daemon, rolloutId);
    const upgrades = await upgradesOf(daemon, rolloutId);
    const events = await daemon.operations.readEvents(rolloutId, 10_000);
    await daemon.close();

    const { code, out, err } = await upwaveProcess('export', nightPolicy);
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
    expect(written<RolloutEvent>('event')).toEqual(events?.toReversed());
    expect(lines.length).toBe(2 + upgrades.length + (events?.length ?? 0));
    for (const secret of Object.values(nightCredentials)) expect(out).not.toContain(secret);

    const file = inFolder('record.jsonl');
    expect(await upwave('export', rolloutId, '--out', file)).toMatchObject({ code: 0, all: '' });
    expect(readFileSync(file, 'utf8')).toBe(out);
    const unknown = await upwaveProcess('export', `${nightPolicy}-20200101-1`);
    expect(unknown).toMatchObject({ code: 2, out: '' });
    expect(unknown.err).toContain(
      `no rollout and no policy is called ${nightPolicy}-20200101-1; the newest are`,
    );
    expect((await upwave('export', 'nonsense')).err).toContain(rolloutId);
    await emptyRedis(redis.connect().commands, keyPrefix);
    expect((await upwave('export', nightPolicy)).err).toContain('none is kept');
  });
});

describe.concurrent('commands on the state in Redis', () => {
  const service = { baseUrl: 'https://api.example.com/api', accessId: 'anId', accessKey: 'aKey' };
  const withConfig = async (work: (folder: Folder, file: string) => Promise<void>) => {
    const ends: Array<() => void> = [];
    try {
      const folder = aFolder((end) => ends.push(end));
      // Nothing listens there.
      const closed = { url: 'redis://:hush-hush@127.0.0.1:1' };
      await work(
        folder,
        folder.write('upwave.yaml', { service, rollouts: [{ name: 'all' }], redis: closed }),
      );
    } finally {
      for (const end of ends) end();
    }
  };

  it.each([
    { args: ['export'], says: /missing required argument 'rollout'/ },
    {
      args: ['export', 'all', '--redis', 'embedded'],
      says: /the embedded Redis keeps nothing here: there is no/,
    },
  ])('$args ends with 2', async ({ args, says }) => {
    await withConfig(async ({ path }, file) => {
      const { code, err, all } = await runUpwave({ args: [...args, '--config', file], cwd: path });
      expect(err).toMatch(says);
      expect(all).not.toMatch(noStack);
      expect(code).toBe(2);
      expect(existsSync(join(path, '.upwave'))).toBe(false);
    });
  });

  it.each([['export', 'all']])(
    '%s %s: no Redis there ends with 4, names the place, and shows no password (P12)',
    async (...args) => {
      const { expect } = await import('vitest');
      await withConfig(async ({ path }, file) => {
        const words = args.filter((word) => typeof word === 'string');
        const { code, err, all } = await runUpwave({ args: [...words, '--config', file], cwd: path });
        expect(err).toMatch(
          /^upwave: cannot reach Redis at redis:\/\/127\.0\.0\.1:1; start it, or correct redis\.url \(connect ECONNREFUSED /,
        );
        expect(all).not.toContain('hush-hush');
        expect(code).toBe(4);
        expect(existsSync(join(path, 'file'))).toBe(false);
      });
    },
  );
});

const native = await findOnPath('redis-server');

describe.skipIf(redisServerCommand === undefined)('a Redis that refuses a command to our user', () => {
  it.each([['export', 'all']])(
    '%s %s: is told with what is to do, and without a stack or the command itself',
    async (...given) => {
      const { expect, onTestFinished } = await import('vitest');
      const server = await makeRedisProcess();
      onTestFinished(() => server.close());
      await server.start();
      await server.ask('ACL SETUSER limited on >hush-hush ~* &* +@all -@read');
      const folder = aFolder(onTestFinished);
      const url = server.url.replace('//', '//limited:hush-hush@');
      const service = { baseUrl: 'https://api.example.com/api', accessId: 'anId', accessKey: 'aKey' };
      const file = folder.write('upwave.yaml', { service, rollouts: [{ name: 'all' }], redis: { url } });
      const args = given.filter((word) => typeof word === 'string');
      const { code, err, all } = await runUpwave({ args: [...args, '--config', file], cwd: folder.path });
      expect(err).toMatch(/^upwave: Redis at redis:\/\/127.*NOPERM.*; allow it to this user/m);
      expect(all).not.toMatch(noStack);
      expect(all).not.toMatch(/hush-hush|upwave:\{|args/);
      expect(code).toBe(2);
    },
  );

  it('run --once ends at once, with the right that is missing and what grants it', async () => {
    const { expect, onTestFinished } = await import('vitest');
    const server = await makeRedisProcess();
    onTestFinished(() => server.close());
    await server.start();
    await server.ask('ACL SETUSER limited on >hush-hush ~* &* +@all -eval');
    const folder = aFolder(onTestFinished);
    const url = server.url.replace('//', '//limited:hush-hush@');
    const service = { baseUrl: 'https://api.example.com/api', accessId: 'anId', accessKey: 'aKey' };
    const file = folder.write('upwave.yaml', { service, rollouts: [{ name: 'all' }], redis: { url } });
    const { code, err } = await runUpwave({ args: ['run', '--once', '--config', file], cwd: folder.path });
    expect(err).toContain(
      `upwave: Redis at ${server.url} refuses its user +eval: no work is done. Grant it: ACL SETUSER <user> +eval`,
    );
    expect(code).toBe(2);
  });
});

describe.skipIf(native === undefined)('the state of an embedded Redis', () => {
  it('is read from the disk when no daemon uses it, and refused while one does', async ({
    onTestFinished,
  }) => {
    const folder = aFolder(onTestFinished);
    const service = { baseUrl: 'https://api.example.com/api', accessId: 'anId', accessKey: 'aKey' };
    const file = folder.write('upwave.yaml', { service, rollouts: [{ name: 'production' }] });
    const upwave = (...args: string[]) =>
      runUpwave({ args: [...args, '--config', file, '--redis', 'embedded'], cwd: folder.path });
    const server = await startEmbeddedRedis({
      dataDir: join(folder.path, '.upwave', 'redis'),
      log: () => undefined,
    });
    const connection = makeRedisConnection({ url: server.url, keyPrefix: 'upwave' }, 'worker');
    const store = makeRedisRolloutStore({ commands: connection.commands, keyPrefix: 'upwave' });
    const upgrades = [anUpgrade({ state: 'pending' })];
    await store.freeze({ rollout: aRollout(), upgrades, groups: someGroups(), events: [] });
    await connection.close();
    const busy = await upwave('export', 'production');
    expect(busy).toMatchObject({ code: 4, out: '' });
    expect(busy.err).toMatch(/another upwave uses .*; stop the daemon first\n$/);
    await server.close();
    const { code, out, err } = await upwave('export', 'production');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.trimEnd().split('\n')).toHaveLength(3);
  });
});
