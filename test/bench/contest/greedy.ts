import type { DurationMs } from '../../../src/base/time.ts';

/**
 * The time that a schedule without any delay takes: each upgrade begins as soon as a slot is free and the request rate
 * lets its create go, and its end is known at once.
 * @param durations in the order in which the upgrades begin
 */
export function greedyMakespan(
  durations: readonly DurationMs[],
  limits: { readonly slots: number; readonly requestsPerSecond: number },
): DurationMs {
  const freeAt = new Array<number>(Math.min(limits.slots, durations.length)).fill(0);
  let lastEnd = 0;
  for (const [index, durationMs] of durations.entries()) {
    const slot = indexOfMin(freeAt);
    const mayLeaveAt = (index / limits.requestsPerSecond) * 1_000;
    const end = Math.max(freeAt[slot] ?? 0, mayLeaveAt) + durationMs;
    freeAt[slot] = end;
    lastEnd = Math.max(lastEnd, end);
  }
  return lastEnd;
}

function indexOfMin(values: readonly number[]): number {
  let best = 0;
  for (const [index, value] of values.entries()) if (value < (values[best] ?? Infinity)) best = index;
  return best;
}
