import type { DurationMs } from '../base/time.ts';

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** A duration as the config has it, to the millisecond: in the largest unit that leaves no rest. */
export function writeDuration(durationMs: DurationMs): string {
  if (durationMs === 0) return '0s';
  const unit = units.find(([, unitMs]) => durationMs % unitMs === 0);
  return unit === undefined ? `${durationMs}ms` : `${durationMs / unit[1]}${unit[0]}`;
}
