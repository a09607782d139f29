/** An instant: milliseconds since the UNIX epoch. */
export type EpochMs = number;

/** A length of time in milliseconds. */
export type DurationMs = number;

/** The source of time. Production passes the machine's clock, tests a settable one. */
export interface Clock {
  now(): EpochMs;
}

const unitMs: Record<string, DurationMs> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Parses a duration as the config has it: `250ms`, `30s`, `1.5h`, `7d` (DESIGN §4).
 * @returns milliseconds; undefined when the text is not a duration
 */
export function parseDuration(text: string): DurationMs | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim());
  const amount = match?.[1];
  const unit = unitMs[match?.[2] ?? ''];
  if (amount === undefined || unit === undefined) return undefined;
  return Math.round(Number(amount) * unit);
}

/** Writes a duration for people, in at most two units: `1h12m`, `45s`, `250ms`. */
export function formatDuration(durationMs: DurationMs): string {
  if (durationMs < 0) return `-${formatDuration(-durationMs)}`;
  if (durationMs === 0) return '0s';
  if (durationMs < 1_000) return `${Math.round(durationMs)}ms`;
  const seconds = Math.round(durationMs / 1_000);
  const parts: Array<[number, string]> = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount}${unit}`)
    .join('');
}

/** An instant for people, to the second: `2026-11-22T22:00:00Z`. */
export function isoSecond(at: EpochMs): string {
  return `${new Date(at).toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`;
}

/** The earliest of these instants; null when there is none. */
export function earliest(instants: ReadonlyArray<EpochMs | null>): EpochMs | null {
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? null : Math.min(...known);
}
