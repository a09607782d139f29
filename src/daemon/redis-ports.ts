import type { Clock, DurationMs } from '../base/time.ts';
import { makeReadApiBudgetStatus } from '../redis/api-budget/read-status.ts';
import type { RedisConnection } from '../redis/connection/connection.ts';
import { makeRedisFleetRegister } from '../redis/coordination/fleet-register.ts';
import { makeRedisScanBook } from '../redis/coordination/scan-book.ts';
import { makeRedisOutbox } from '../redis/notifications/outbox.ts';
import { makeRedisRolloutStore } from '../redis/rollout-store/rollout-store.ts';
import type { BrokenRecords } from '../redis/schema/unreadable-records.ts';
import type { Policy } from '../rollout/model/policy.ts';

export interface RedisPortsParts {
  readonly keyPrefix: string;
  readonly historyMs: DurationMs;
  readonly broken: BrokenRecords;
  /** In which records are written, and the newest that can be read. */
  readonly recordVersion: number;
  /** Of the config. */
  readonly rollouts: readonly Policy[];
  readonly clock: Clock;
  /** Of the access key whose budget is read. */
  readonly accessId: string;
  readonly requestsPerSecond: number;
}

/** The ports that two users of Redis need, each by a connection that waits in its own way: the loops and the handlers. */
export function makeRedisPorts({ commands }: RedisConnection, parts: RedisPortsParts) {
  const { keyPrefix, historyMs, broken, clock, accessId, requestsPerSecond, rollouts } = parts;
  const kept = { commands, keyPrefix, historyMs, broken };
  return {
    store: makeRedisRolloutStore({ ...kept, version: parts.recordVersion, policies: rollouts }),
    register: makeRedisFleetRegister(kept),
    scans: makeRedisScanBook({ commands, keyPrefix, broken, now: clock.now }),
    outbox: makeRedisOutbox({ commands, keyPrefix, broken }),
    readApiBudgetStatus: makeReadApiBudgetStatus({ commands, keyPrefix, accessId, requestsPerSecond, clock }),
  };
}
