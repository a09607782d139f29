import { setFlagsFromString } from 'node:v8';

// The engine's own choice is up to 300: with 100,000 collectors the daemon then has 470 MiB in memory while it plans, and a
// gigabyte on a bad day. With 50 it has 290, for a few collections more; with 100 an idle one keeps 40 MiB more than with 50.
const growthPercent = 50;

/**
 * Has the engine collect garbage before the heap has grown by more than half since the last collection. Read at each
 * collection, so it counts from the next one on.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
}
