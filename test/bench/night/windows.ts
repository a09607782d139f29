import type { DurationMs } from '../../../src/base/time.ts';
import { quantile } from '../quantile.ts';
import type { Fault } from './run-night.ts';
import type { Watched } from './watch-night.ts';

export const windowSeconds = 10;

/** Ten seconds of a night. NaN where nothing was measured. */
export interface Window {
  /** In seconds of the watch. */
  readonly from: number;
  readonly readsP95Ms: DurationMs;
  /** Of the daemon whose event loop was later. */
  readonly lagP99Ms: DurationMs;
}

export function windowsOf({ samples, reads, lags }: Watched): readonly Window[] {
  const count = Math.ceil((samples.at(-1)?.at ?? 0) / windowSeconds);
  return Array.from({ length: count }, (_none, index) => {
    const from = index * windowSeconds;
    const isIn = ({ at }: { readonly at: number }) => at >= from && at < from + windowSeconds;
    const takenMs = reads.filter(isIn).flatMap((read) => (read.takenMs === null ? [] : [read.takenMs]));
    // A scrape tells of the ten seconds before it.
    const before = lags.filter(({ at }) => isIn({ at: at - windowSeconds / 2 }));
    return {
      from,
      readsP95Ms: quantile(takenMs, 0.95),
      lagP99Ms: quantile(
        before.map(({ p99Ms }) => p99Ms),
        1,
      ),
    };
  });
}

/** Whether a window has none of the ten seconds after a fault. */
export function isOutside(faults: readonly Fault[]): (window: Pick<Window, 'from'>) => boolean {
  return ({ from }) =>
    faults.every((fault) => from + windowSeconds <= fault.from || from >= fault.from + windowSeconds);
}
