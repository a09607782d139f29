/**
 * The greatest offset, count or index that every Redis takes: Valkey in WebAssembly is a 32-bit program, and refuses a
 * greater one with `ERR value is out of range`.
 */
const rangeBoundMax = 2 ** 31 - 1;

/** An offset, count or index for a command: what a Redis refuses as too great is the greatest that it takes. */
export function rangeBound(value: number): number {
  return Math.min(value, rangeBoundMax);
}
