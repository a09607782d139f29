import type { DurationMs } from '../../base/time.ts';
import { within } from '../../base/waiting.ts';
import type { RedisCommands } from './connection.ts';

export interface RedisCheckParts {
  /** Of the handler kind, which fails instead of waiting. */
  readonly commands: RedisCommands;
  /** One key of each hash tag: in a Cluster each may be on another node. */
  readonly keys: readonly string[];
}

// A loaded Redis takes milliseconds. A frozen one never answers.
const answersWithinMs: DurationMs = 800;

/**
 * Makes a check whether Redis answers for the daemon's keys. The state of the connection is not enough: it looks healthy
 * when Redis is frozen, and when a Cluster has lost the node with the keys. Never throws.
 */
export function makeRedisCheck(parts: RedisCheckParts): () => Promise<boolean> {
  const { commands, keys } = parts;
  const answersFor = async (key: string): Promise<boolean> => {
    try {
      await commands.exists(key);
      return true;
    } catch (error) {
      // A refusal is a reply as well. What a Cluster refuses becomes another error after too many redirections.
      return error instanceof Error && error.name === 'ReplyError';
    }
  };
  return async () => {
    const answers = await within(answersWithinMs, Promise.all(keys.map(answersFor)));
    return answers !== undefined && !answers.includes(false);
  };
}
