import { randomBytes } from 'node:crypto';

/** Makes marks that no other call of any daemon has: they distinguish a command sent twice from two commands. */
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

/** Names and values, or members and scores, which Redis sends in turn. */
export function pairsOf(reply: readonly string[]): ReadonlyArray<readonly [string, string]> {
  return reply.flatMap((name, at) => (at % 2 === 0 ? [[name, reply[at + 1] ?? ''] as const] : []));
}

/** An offset, count or index for a command: what a Redis refuses as too great is the greatest that it takes. */
export function rangeBound(value: number): number {
  return Math.min(value, rangeBoundMax);
}
