import type { EpochMs } from '../../base/time.ts';
import { type ChartElement, chartElement } from './chart-element.ts';

/** The time that a chart covers, and how it writes an instant. */
export interface TimeAxis {
  readonly from: EpochMs;
  readonly to: EpochMs;
  words(at: EpochMs): string;
}

const shares = [0, 0.25, 0.5, 0.75, 1];

/** The instants below a chart, evenly spaced. */
export function ticks({ from, to, words }: TimeAxis): ChartElement {
  const instants = shares.map((share) => chartElement('span', {}, words(from + share * (to - from))));
  return chartElement('div', { class: 'ticks', 'aria-hidden': 'true' }, ...instants);
}

/**
 * Converts values between the first two numbers to positions between the last two. A value outside is shown at the edge, and
 * all are in the middle where there is only one value.
 */
export function scale(
  [low, high]: readonly [number, number],
  [start, end]: readonly [number, number],
): (value: number) => number {
  return (value) => {
    const share = high === low ? 0.5 : (Math.min(Math.max(value, low), high) - low) / (high - low);
    return Math.round((start + share * (end - start)) * 10) / 10;
  };
}
