import { redisServerCommand } from '../support/redis/redis-process.ts';

/** A suite that is asked for by its name fails where it can't run: skipped tests would look like passed ones. */
export function setup(): void {
  if (redisServerCommand === undefined)
    throw new Error(
      'the chaos suite kills a redis-server, and there is none on the PATH (Debian: apt-get install redis-server)',
    );
}
