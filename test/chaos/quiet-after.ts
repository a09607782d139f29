import { setTimeout as wait } from 'node:timers/promises';
import type { ChaosNight } from './chaos-night.ts';

/** How long the service heard nothing after something happened, in our milliseconds; null: nothing came any more. */
export interface Quiet {
  readonly createMs: number | null;
  readonly requestMs: number | null;
}

const lookEveryMs = 5;
const giveUpAfterDefaultMs = 20_000;

/** Begins to measure at the call. */
export async function quietAfter(night: ChaosNight, giveUpAfterMs = giveUpAfterDefaultMs): Promise<Quiet> {
  const since = performance.now();
  const before = night.record();
  const requestsBefore = requestsIn(before);
  let requestMs: number | null = null;
  while (performance.now() - since < giveUpAfterMs) {
    const record = night.record();
    const passedMs = performance.now() - since;
    if (requestMs === null && requestsIn(record) > requestsBefore) requestMs = passedMs;
    if (record.creates.length > before.creates.length) return { createMs: passedMs, requestMs };
    await wait(lookEveryMs);
  }
  return { createMs: null, requestMs };
}

/** Those of several, the longest last: `80, 120, 2400 ms`. */
export function timesText(times: ReadonlyArray<number | null>): string {
  const known = times.filter((time) => time !== null).toSorted((a, b) => a - b);
  return known.length === 0 ? 'none' : `${known.map((time) => Math.round(time)).join(', ')} ms`;
}

function requestsIn({ requests }: { readonly requests: Readonly<Record<string, number>> }): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}
