import type { ReadinessCheck } from '../admin-api/readiness.ts';
import type { EpochMs } from '../base/time.ts';
import { readRestoring } from '../redis/restoring.ts';
import { forbiddenWords, type RedisConnections } from './redis-connections.ts';

/** Whether the loops can work with Redis: it is there, takes writes, does what we ask, and its state is whole. */
export async function redisReadiness(redis: RedisConnections, keyPrefix: string): Promise<ReadinessCheck> {
  const refusal = redis.writes.refusal();
  if (refusal !== null)
    return { ok: false, kind: 'unwritable', reason: `${redis.place} refuses writes: ${refusal}` };
  if (!redis.worker.isReady()) {
    const why = redis.unreachable();
    const reason = `no connection to ${redis.place}${why === null ? '' : `: ${why}`}`;
    return { ok: false, kind: 'away', ...sinceOf(redis), reason };
  }
  const refused = redis.rights.refused();
  if (refused.length > 0)
    return { ok: false, kind: 'forbidden', reason: forbiddenWords(redis.place, refused) };
  const fault = redis.faults.reason();
  if (fault !== null)
    return { ok: false, kind: 'fault', reason: `${redis.place} answers with an error: ${fault}` };
  const restoring = await readRestoring({ commands: redis.handler.commands, keyPrefix });
  if (restoring === null) return { ok: true, kind: 'connected', reason: 'connected' };
  const reason = `a restore into ${redis.place}, begun at ${restoring}, is under way or was cut off: nothing starts until it has come to its end`;
  return { ok: false, kind: 'restoring', since: Date.parse(restoring), reason };
}

function sinceOf({ unreachableSince }: RedisConnections): { readonly since?: EpochMs } {
  const since = unreachableSince();
  return since === null ? {} : { since };
}
