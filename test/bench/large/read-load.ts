import { Agent, request } from 'undici';
import type { DurationMs } from '../../../src/base/time.ts';
import { preciseNow } from '../processes/child-process.ts';

export interface ReadLoad {
  readonly origin: string;
  readonly authorization: string;
  /** Asked in turn. */
  readonly targets: readonly string[];
  readonly requestsPerSecond: number;
  readonly durationMs: DurationMs;
}

/**
 * Sends reads at a steady rate, however long the answers take, and measures each until its last byte.
 * @throws when an answer is not 200
 */
export async function sendReads(load: ReadLoad): Promise<readonly DurationMs[]> {
  const { authorization, durationMs, origin, requestsPerSecond, targets } = load;
  const dispatcher = new Agent({ connections: 64 });
  const count = Math.floor((durationMs * requestsPerSecond) / 1_000);
  const beganAt = preciseNow();
  const ask = async (target: string): Promise<DurationMs> => {
    const sentAt = preciseNow();
    const answer = await request(`${origin}${target}`, { dispatcher, headers: { authorization } });
    await answer.body.arrayBuffer();
    if (answer.statusCode !== 200) throw new Error(`${target} was answered ${answer.statusCode}`);
    return preciseNow() - sentAt;
  };
  const asked = Array.from({ length: count }, async (_none, index) => {
    const dueAt = beganAt + (index * 1_000) / requestsPerSecond;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueAt - preciseNow())));
    return ask(targets[index % targets.length] ?? '/');
  });
  try {
    return await Promise.all(asked);
  } finally {
    await dispatcher.close();
  }
}
