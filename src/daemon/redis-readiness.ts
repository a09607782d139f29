import type { ReadinessCheck } from '../admin-api/readiness.ts';
import type { RedisConnections } from './redis-connections.ts';

/** Whether the loops can work with Redis: it is there, and takes writes. */
export function redisReadiness(redis: RedisConnections): ReadinessCheck {
  const refusal = redis.writes.refusal();
  if (refusal !== null) return { ok: false, reason: `${redis.place} refuses writes: ${refusal}` };
  return redis.worker.isReady()
    ? { ok: true, reason: 'connected' }
    : { ok: false, reason: `no connection to ${redis.place}` };
}
