import type { ReadinessCheck } from '../admin-api/readiness.ts';
import { readRestoring } from '../redis/restoring.ts';
import type { RedisConnections } from './redis-connections.ts';

/** Whether the loops can work with Redis: it is there, takes writes, does what we ask, and its state is whole. */
export async function redisReadiness(redis: RedisConnections, keyPrefix: string): Promise<ReadinessCheck> {
  const refusal = redis.writes.refusal();
  if (refusal !== null) return { ok: false, reason: `${redis.place} refuses writes: ${refusal}` };
  if (!redis.worker.isReady()) {
    const why = redis.unreachable();
    return { ok: false, reason: `no connection to ${redis.place}${why === null ? '' : `: ${why}`}` };
  }
  const fault = redis.faults.reason();
  if (fault !== null) return { ok: false, reason: `${redis.place} answers with an error: ${fault}` };
  const restoring = await readRestoring({ commands: redis.handler.commands, keyPrefix });
  if (restoring === null) return { ok: true, reason: 'connected' };
  const reason = `a restore into ${redis.place}, begun at ${restoring}, is under way or was cut off: nothing starts until it has come to its end`;
  return { ok: false, reason };
}
