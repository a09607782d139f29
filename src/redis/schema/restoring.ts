import type { RedisCommands } from '../connection/connection.ts';

/**
 * Stands where a policy's active rollout has its id, while its state is being restored: so nobody begins another one,
 * also when the restore was cut off.
 */
export const restoringWord = 'restoring';

/** There from before a restore's first change until after its last. */
export function restoringKey(keyPrefix: string): string {
  return `${keyPrefix}:{leader}:restoring`;
}

/** @returns when the restore began that is under way, or was cut off, as ISO 8601; null when there is none */
export function readRestoring(redis: {
  readonly commands: Pick<RedisCommands, 'get'>;
  readonly keyPrefix: string;
}): Promise<string | null> {
  return redis.commands.get(restoringKey(redis.keyPrefix));
}
