import type { DurationMs } from '../../base/time.ts';
import { sleepForReal } from '../../base/waiting.ts';
import type { RedisCommands } from './connection.ts';
import { writeRefusalOf } from './redis-errors.ts';

export interface WriteWatchParts {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  readonly onRefused: (reason: string) => void;
  readonly onAccepted: () => void;
}

const tryEveryMs: DurationMs = 1_000;

// Longer than any backoff of a writer: in a Cluster one node may be full while another accepts the test write.
const quietMs: DurationMs = 3_000;

const triedKeptMs: DurationMs = 10_000;

/**
 * Tracks whether Redis refuses writes, from all failed writes. After a refused write it tests with a small write each
 * second, until one is accepted.
 */
export function makeWriteWatch(parts: WriteWatchParts) {
  const { commands } = parts;
  const key = `${parts.keyPrefix}:{leader}:tried`;
  let refused: { reason: string; at: number; readonly ended: AbortController } | undefined;

  async function watch(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      await sleepForReal(tryEveryMs, ended);
      if (ended.aborted) return;
      if ((await isAccepted()) && isQuiet() && !ended.aborted) {
        forget();
        parts.onAccepted();
      }
    }
  }

  async function isAccepted(): Promise<boolean> {
    try {
      await commands.set(key, '1', 'PX', triedKeptMs);
      return true;
    } catch (error) {
      // The connection reports all other errors.
      learn(error);
      return false;
    }
  }

  function isQuiet(): boolean {
    return refused !== undefined && performance.now() - refused.at >= quietMs;
  }

  /** @returns true for a refused write, which is reported once */
  function learn(error: unknown): boolean {
    const reason = writeRefusalOf(error);
    if (reason === null) return false;
    const at = performance.now();
    if (refused === undefined) {
      refused = { reason, at, ended: new AbortController() };
      parts.onRefused(reason);
      void watch(refused.ended.signal);
    } else Object.assign(refused, { reason, at });
    return true;
  }

  /** Redis is unreachable, which is reported elsewhere. Whether it accepts writes when it is back is unknown. */
  function forget(): void {
    refused?.ended.abort();
    refused = undefined;
  }

  /** Redis's message why it refuses writes; null while it does not. */
  const refusal = (): string | null => refused?.reason ?? null;
  return { learn, refusal, forget, close: forget };
}
