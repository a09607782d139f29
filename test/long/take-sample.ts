import { readdirSync } from 'node:fs';
import { z } from 'zod';
import type { RedisCommands } from '../../src/redis/connection/connection.ts';
import type { Sample } from './growth.ts';

const Rollouts = z.object({
  rollouts: z.array(z.object({ id: z.string(), endedAt: z.number().nullable() })),
});

/** What a daemon and its Redis hold now; undefined while a rollout is running, or the daemon does not answer. */
export async function takeSample(
  { url, pid }: { readonly url: string; readonly pid: number },
  commands: RedisCommands,
): Promise<Sample | undefined> {
  const answer = await fetch(`${url}/api/v1/rollouts`);
  if (!answer.ok) return undefined;
  const { rollouts } = Rollouts.parse(await answer.json());
  if (rollouts.length === 0 || rollouts.some(({ endedAt }) => endedAt === null)) return undefined;
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const seriesSum = (series: RegExp) => {
    const matches = [...metrics.matchAll(new RegExp(`^${series.source} (\\S+)$`, 'gm'))];
    return matches.reduce((sum, [, value]) => sum + Number(value), 0);
  };
  const keys = await commands.keys('*');
  const isOfRollout = (key: string) => /:[a-z]+-\d{8}-\d+:/.test(key);
  // Ticks of the schedule are kept for a day, 10,000 at most, so that each runs once (src/README.md).
  const isTick = (key: string) => /:scans:.*\.schedule\./.test(key);
  const memory = /used_memory:(\d+)/.exec(await commands.info('memory'))?.[1];
  return {
    rolloutsEnded: rollouts.length,
    rssBytes: seriesSum(/process_resident_memory_bytes(?:\{[^}]*\})?/),
    heapBytes: seriesSum(/nodejs_heap_size_used_bytes(?:\{[^}]*\})?/),
    handles: readdirSync(`/proc/${pid}/fd`).length,
    jobsDelayed: seriesSum(/upwave_queue_jobs\{[^}]*state="delayed"[^}]*\}/),
    keysOfRollouts: keys.filter(isOfRollout).length,
    keysBeside: keys.filter((key) => !isOfRollout(key) && !isTick(key)).length,
    redisBytes: Number(memory ?? 0),
  };
}
