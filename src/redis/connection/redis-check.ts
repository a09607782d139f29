import type { DurationMs } from '../../base/time.ts';
import { within } from '../../base/waiting.ts';
import type { RedisCommands } from './connection.ts';

export interface RedisPulseParts {
  /** Of the handler kind: it refuses what has to wait. */
  readonly commands: RedisCommands;
  /** One of each hash tag: in a Cluster each may be on a node of its own. */
  readonly keys: readonly string[];
}

// A loaded Redis takes milliseconds; one that is frozen never answers.
const answersWithinMs: DurationMs = 800;

/**
 * Makes a question that Redis answers where a daemon's work would get on. A connection alone does not know: it looks
 * well when Redis is frozen, and when a Cluster has lost the node that has the keys. Never throws.
 */
export function makeRedisPulse(parts: RedisPulseParts): () => Promise<boolean> {
  const { commands, keys } = parts;
  const answersFor = async (key: string): Promise<boolean> => {
    try {
      await commands.exists(key);
      return true;
    } catch (error) {
      // A refusal is an answer, too; but what a Cluster refuses comes as another error, once it was asked often enough.
      return error instanceof Error && error.name === 'ReplyError';
    }
  };
  return async () => {
    const answers = await within(answersWithinMs, Promise.all(keys.map(answersFor)));
    return answers !== undefined && !answers.includes(false);
  };
}
