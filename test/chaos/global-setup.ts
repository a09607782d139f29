import { redisServerCommand } from '../support/redis/redis-process.ts';

/** Fails where the suite cannot run, because skipped tests would look like passed ones. */
export function setup(): void {
  if (redisServerCommand === undefined)
    throw new Error(
      'the chaos suite kills a redis-server, and there is none on the PATH (Debian: apt-get install redis-server)',
    );
}
