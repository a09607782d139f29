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

// Longer than anybody rests before the next attempt: in a Cluster one node may be full, and another take our try.
const quietMs: DurationMs = 3_000;

const triedKeptMs: DurationMs = 10_000;

/**
 * Knows whether Redis refuses writes, from what everybody who writes has met. It begins to check when a write was refused,
 * with a small write each second, and ends when that is taken.
 */
export function makeWriteWatch(parts: WriteWatchParts) {
  const { commands } = parts;
  const key = `${parts.keyPrefix}:{leader}:tried`;
  let refused: { reason: string; at: number; readonly ended: AbortController } | undefined;

  async function watch(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      await sleepForReal(tryEveryMs, ended);
      if (ended.aborted) return;
      if ((await isTaken()) && isQuiet() && !ended.aborted) {
        forget();
        parts.onAccepted();
      }
    }
  }

  async function isTaken(): Promise<boolean> {
    try {
      await commands.set(key, '1', 'PX', triedKeptMs);
      return true;
    } catch (error) {
      // The connection reports everything else.
      learn(error);
      return false;
    }
  }

  function isQuiet(): boolean {
    return refused !== undefined && performance.now() - refused.at >= quietMs;
  }

  /** @returns true when the error is such a refusal: it is reported then, once for all */
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

  /** Redis is away: that is reported already, and nobody knows what it will say when it is back. */
  function forget(): void {
    refused?.ended.abort();
    refused = undefined;
  }

  /** In Redis's words, why it refuses writes; null while nobody has noticed that it does. */
  const refusal = (): string | null => refused?.reason ?? null;
  return { learn, refusal, forget, close: forget };
}
