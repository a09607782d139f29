import { hashHex } from '../../base/hash.ts';
import type { EpochMs } from '../../base/time.ts';
import type { KeyMemory } from '../../orchestrator/ports/api-budget.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { apiBudgetKeys } from './ledger.ts';

export interface KeyMemoryParts {
  readonly commands: RedisCommands;
  readonly keyPrefix: string;
  readonly accessId: string;
  /** Only the first half of its hash is stored (P12). */
  readonly accessKey: string;
  readonly now: () => EpochMs;
}

// A key that has not worked for this long counts as new.
const keptForS = 30 * 86_400;

// How often a daemon stores it again.
const againAfterMs = 86_400_000;

/**
 * Remembers in Redis, beside the key's API budget, that an access key has worked. Another key of the same access id, such as
 * a new one with a typo, has not.
 */
export function makeRedisKeyMemory(parts: KeyMemoryParts): KeyMemory {
  const { commands, now } = parts;
  const { worked: key } = apiBudgetKeys(parts.keyPrefix, parts.accessId);
  const print = hashHex(`${parts.accessId}:${parts.accessKey}`, 32);
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    hasWorked: async () => (await commands.get(key)) === print,
    worked: async () => {
      if (now() - reportedAt < againAfterMs) return;
      reportedAt = now();
      try {
        await commands.set(key, print, 'EX', keptForS);
      } catch {
        // An error must not lose the response that proved it. Other commands report a Redis that refuses writes.
        reportedAt = Number.NEGATIVE_INFINITY;
      }
    },
  };
}
