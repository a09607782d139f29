import { randomBytes } from 'node:crypto';

/** Makes unique marks for calls of all daemons. They distinguish a command that was sent twice from two commands. */
export function makeWriteMarks(): () => string {
  const daemon = randomBytes(6).toString('base64url');
  let count = 0;
  return () => {
    count += 1;
    return `${daemon}${count.toString(36)}`;
  };
}

/**
 * The greatest offset, count or index that every Redis accepts. Valkey in WebAssembly is a 32-bit program, and refuses
 * greater ones with `ERR value is out of range`.
 */
const rangeBoundMax = 2 ** 31 - 1;

/** Converts alternating names and values, or members and scores, to pairs. */
export function pairsOf(reply: readonly string[]): ReadonlyArray<readonly [string, string]> {
  return reply.flatMap((name, at) => (at % 2 === 0 ? [[name, reply[at + 1] ?? ''] as const] : []));
}

/** Limits an offset, count or index to what every Redis accepts. */
export function rangeBound(value: number): number {
  return Math.min(value, rangeBoundMax);
}
