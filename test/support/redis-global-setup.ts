import type { TestProject } from 'vitest/node';
import { startTestRedis } from './start-test-redis.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The one Redis of this run; undefined when no global setup ran. */
    readonly redis?: { readonly url: string; readonly kind: string; readonly persistent: boolean };
  }
}

/** Starts one Redis for the whole run. Each test uses a key prefix of its own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const redis = await startTestRedis();
  const { url, kind, persistent } = redis;
  if (!persistent) process.stderr.write(`tests use ${kind}: those that restart Redis are skipped\n`);
  project.provide('redis', { url, kind, persistent });
  return () => redis.close();
}
