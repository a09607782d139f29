import type { Clock, DurationMs } from '../base/time.ts';
import type { BrokenRecords } from '../redis/broken-records.ts';
import type { RedisConnection } from '../redis/connection.ts';
import { makeReadApiStanding } from '../redis/read-api-standing.ts';
import { makeRedisFleetRegister } from '../redis/redis-fleet-register.ts';
import { makeRedisRolloutStore } from '../redis/redis-rollout-store.ts';
import { makeRedisScanBook } from '../redis/redis-scan-book.ts';
import type { Policy } from '../rollout/policy.ts';

export interface RedisPortsParts {
  readonly keyPrefix: string;
  readonly historyMs: DurationMs;
  readonly broken: BrokenRecords;
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
    store: makeRedisRolloutStore({ ...kept, policies: rollouts }),
    register: makeRedisFleetRegister(kept),
    scans: makeRedisScanBook({ commands, keyPrefix, broken, now: clock.now }),
    readApiStanding: makeReadApiStanding({ commands, keyPrefix, accessId, requestsPerSecond, clock }),
  };
}
