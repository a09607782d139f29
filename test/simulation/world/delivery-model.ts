import type { TimeRange } from '../../../src/rollout/decision/data-flow.ts';
import { makeChances } from '../chances.ts';

type GapKind = 'down' | 'silent';

/** What a collector delivers: a steady stream, but for its gaps. */
export interface Delivery {
  /** It was not there before. */
  readonly since: number;
  readonly perMinute: number;
  readonly gaps: ReadonlyArray<{ readonly kind: GapKind; readonly from: number; readonly until: number }>;
}

// At such a rate a minute is enough to compare.
const steadyPerMinute = 20;

/** Some collectors have next to nothing to send: nothing is known of these. */
export function drawDelivery(seed: number, collectorId: number, since: number): Delivery {
  const chances = makeChances(seed, `delivery/${collectorId}`);
  return { since, perMinute: chances.pick([0, 0.05, steadyPerMinute, 60, 60, 300, 300]), gaps: [] };
}

export function beginGap(delivery: Delivery, kind: GapKind, from: number): Delivery {
  return { ...delivery, gaps: [...delivery.gaps, { kind, from, until: Number.POSITIVE_INFINITY }] };
}

export function endGap(delivery: Delivery, kind: GapKind, at: number): Delivery {
  const isOpen = (gap: Delivery['gaps'][number]) =>
    gap.kind === kind && gap.until === Number.POSITIVE_INFINITY;
  return { ...delivery, gaps: delivery.gaps.map((gap) => (isOpen(gap) ? { ...gap, until: at } : gap)) };
}

/** Messages that the service received in this time. */
export function countMessages({ since, perMinute, gaps }: Delivery, { from, to }: TimeRange): number {
  let deliveredMs = 0;
  let at = Math.max(from, since);
  for (const gap of gaps.toSorted((a, b) => a.from - b.from)) {
    deliveredMs += Math.max(0, Math.min(gap.from, to) - at);
    at = Math.max(at, gap.until);
  }
  deliveredMs += Math.max(0, to - at);
  return Math.floor((deliveredMs / 60_000) * perMinute);
}

/** Whether enough came without a gap, up to this instant, to notice when it ends. */
export function isSteadyUntil({ since, perMinute, gaps }: Delivery, at: number): boolean {
  return (
    since === Number.NEGATIVE_INFINITY && perMinute >= steadyPerMinute && gaps.every(({ from }) => from >= at)
  );
}

/** Whether an upgrade has silenced it by this instant, and it still is. */
export function isSilentSince({ gaps }: Delivery, at: number): boolean {
  return gaps.some(
    ({ kind, from, until }) => kind === 'silent' && from <= at && until === Number.POSITIVE_INFINITY,
  );
}
