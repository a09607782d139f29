import { createHash, randomBytes } from 'node:crypto';
import type { RedisCommands } from './connection.ts';

/** A Lua script that Redis runs as one atomic step. */
export interface Script {
  readonly lua: string;
  readonly sha1: string;
}

export function makeScript(lua: string): Script {
  return { lua, sha1: createHash('sha1').update(lua).digest('hex') };
}

/** Runs a script. All keys share one hash tag, so that it works on a Cluster. */
export async function runScript(
  commands: RedisCommands,
  script: Script,
  call: { readonly keys: readonly string[]; readonly args: ReadonlyArray<string | number> },
): Promise<unknown> {
  const { keys, args } = call;
  try {
    return await commands.evalsha(script.sha1, keys.length, ...keys, ...args);
  } catch (error) {
    // A server that restarted or was just promoted does not know it yet.
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return commands.eval(script.lua, keys.length, ...keys, ...args);
  }
}

/** Makes marks that no other call of any daemon has: they tell a command sent twice from two commands. */
export function makeWriteMarks(): () => string {
  const daemon = randomBytes(6).toString('base64url');
  let count = 0;
  return () => {
    count += 1;
    return `${daemon}${count.toString(36)}`;
  };
}

/**
 * The greatest offset, count or index that every Redis takes: Valkey in WebAssembly is a 32-bit program, and refuses a
 * greater one with `ERR value is out of range`.
 */
const rangeBoundMax = 2 ** 31 - 1;

/** An offset, count or index for a command: what a Redis refuses as too great is the greatest that it takes. */
export function rangeBound(value: number): number {
  return Math.min(value, rangeBoundMax);
}
