import type { TestProject } from 'vitest/node';
import { findOnPath } from '../../../src/redis/embedded/start-embedded-redis.ts';
import { startTestRedis } from '../redis/start-test-redis.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The one Redis of this run; undefined when no global setup ran. */
    readonly redis?: { readonly url: string; readonly kind: string; readonly persistent: boolean };
  }
}

/** Commands that some tests need, and which tests are skipped without each. */
const optionalCommands = {
  'redis-server': 'tests that kill, restart, limit or cluster Redis',
  openssl: 'tests with certificates of an own authority',
  promtool: 'tests that let Prometheus judge metrics and rules',
} as const;

/** Starts one Redis for the whole run. Each test uses a key prefix of its own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const redis = await startTestRedis();
  const { url, kind, persistent } = redis;
  process.stderr.write(`tests use ${kind}\n`);
  for (const [command, tests] of Object.entries(optionalCommands)) {
    if ((await findOnPath(command)) === undefined) {
      process.stderr.write(`skipped, since ${command} is not on the PATH: ${tests}\n`);
    }
  }
  project.provide('redis', { url, kind, persistent });
  return () => redis.close();
}
