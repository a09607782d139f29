import { setTimeout as wait } from 'node:timers/promises';
import type { ChaosNight } from './chaos-night.ts';

/** How long the service got no request after an event, in our milliseconds; null: no further request came. */
export interface Quiet {
  readonly createMs: number | null;
  readonly requestMs: number | null;
}

const checkEveryMs = 5;
const giveUpAfterDefaultMs = 20_000;

/** A create leaves within this time of its intent, or not at all. */
export const straysMs = 1_000;

/**
 * Begins to measure at the call.
 * @param options.ignoreMs creates of so long a time were on their way already, and end no quiet
 */
export async function quietAfter(
  night: ChaosNight,
  options: { readonly giveUpAfterMs?: number; readonly ignoreMs?: number } = {},
): Promise<Quiet> {
  const { giveUpAfterMs = giveUpAfterDefaultMs, ignoreMs = 0 } = options;
  const since = performance.now();
  let createsBefore = night.record().creates.length;
  const requestsBefore = requestsIn(night.record());
  let requestMs: number | null = null;
  while (performance.now() - since < giveUpAfterMs) {
    const record = night.record();
    const passedMs = performance.now() - since;
    if (requestMs === null && requestsIn(record) > requestsBefore) requestMs = passedMs;
    if (passedMs < ignoreMs) createsBefore = record.creates.length;
    if (record.creates.length > createsBefore) return { createMs: passedMs, requestMs };
    await wait(checkEveryMs);
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
