import type { DurationMs } from '../base/time.ts';

/** How long what is over is kept, unless the config says otherwise: a quarter, so that two releases can be compared. */
export const defaultHistoryMs: DurationMs = 90 * 86_400_000;
