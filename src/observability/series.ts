import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { DurationMs } from '../base/time.ts';

export type Series = ReturnType<typeof makeSeries>;

/** Makes the constructors for series of a registry. Each name begins with `upwave_`. */
export function makeSeries(registry: Registry) {
  const registers = [registry];
  return {
    counter: (name: string, help: string, labelNames: string[] = []) =>
      new Counter({ name: `upwave_${name}`, help, labelNames, registers }),
    gauge: (name: string, help: string, labelNames: string[] = []) =>
      new Gauge({ name: `upwave_${name}`, help, labelNames, registers }),
    /** A gauge that is computed at each scrape. */
    computedGauge: (name: string, help: string, read: () => number) =>
      new Gauge({
        name: `upwave_${name}`,
        help,
        registers,
        collect() {
          this.set(read());
        },
      }),
    histogram: (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
      new Histogram({ name: `upwave_${name}`, help, labelNames, buckets, registers }),
  };
}

/** False for a negative time, which results when the clocks of two machines disagree. */
export function isDuration(durationMs: DurationMs | undefined): durationMs is DurationMs {
  return durationMs !== undefined && Number.isFinite(durationMs) && durationMs >= 0;
}
