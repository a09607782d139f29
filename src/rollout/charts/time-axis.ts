import type { DurationMs, EpochMs } from '../../base/time.ts';
import { dayMs } from '../../base/time-zone.ts';
import { type ChartElement, chartElement } from './chart-element.ts';

/** The time zone in which a chart writes instants. */
export interface ChartZone {
  /** Its name, for the reader. */
  readonly zone: string;
  /** The instant on the clock of the zone, as if that was UTC. */
  localOf(at: EpochMs): number;
}

/** The time that a chart covers. */
export interface TimeAxis extends ChartZone {
  readonly from: EpochMs;
  readonly to: EpochMs;
}

const [secondMs, minuteMs, hourMs]: readonly [DurationMs, DurationMs, DurationMs] = [
  1_000, 60_000, 3_600_000,
];

/** Between two ticks. All divide a day, or are days. */
const stepsMs: readonly DurationMs[] = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * secondMs),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 2, 3, 6, 12].map((hours) => hours * hourMs),
  ...[1, 2, 7, 14, 28, 90, 365].map((days) => days * dayMs),
];

export interface Tick {
  readonly at: EpochMs;
  readonly text: string;
}

/** Round instants of the axis, at most so many, each with another text. */
export function roundTicks({ from, to, localOf }: TimeAxis, most: number): readonly Tick[] {
  const stepMs = stepsMs.find((each) => (to - from) / each <= most - 1) ?? to - from;
  const offset = localOf(from) - from;
  const ticks: Tick[] = [];
  for (let local = Math.ceil(localOf(from) / stepMs) * stepMs; local - offset <= to; local += stepMs)
    ticks.push({ at: local - offset, text: tickText(local, stepMs) });
  return ticks;
}

/** `21:05`, `21:05:30`, or the day at midnight: `Nov 28`. */
function tickText(local: number, stepMs: DurationMs): string {
  if (local % dayMs === 0) return dayText(local);
  return new Date(local).toISOString().slice(11, stepMs < minuteMs ? 19 : 16);
}

const withSecondsMs: DurationMs = 30 * minuteMs;

/** Writes an instant: with the day if the axis has several, with seconds if it is short and does not end before. */
export function instantOn({ from, to, localOf }: TimeAxis): (at: EpochMs) => string {
  const dayOf = (at: EpochMs) => Math.floor(localOf(at) / dayMs);
  return (at) => {
    const length = to - from < withSecondsMs && at <= to ? 19 : 16;
    const time = new Date(localOf(at)).toISOString().slice(11, length);
    return dayOf(from) === dayOf(to) && dayOf(at) === dayOf(from) ? time : `${dayText(localOf(at))} ${time}`;
  };
}

function dayText(local: number): string {
  return new Date(local).toLocaleDateString('en', { timeZone: 'UTC', month: 'short', day: 'numeric' });
}

/** Fits the narrowest phone, and the wider form where there is room. */
const ticksMax = { narrow: 5, wide: 8 } as const;
const edgePercent = 4;

/** Round instants at the height `y` of an SVG. The style sheet shows the form for which there is room. */
export function tickLabels(axis: TimeAxis, x: (at: EpochMs) => number, y: number): readonly ChartElement[] {
  return (['narrow', 'wide'] as const).map((form) => {
    const ticks = roundTicks(axis, ticksMax[form]).map(({ at, text }) => {
      const left = x(at);
      const anchor = left < edgePercent ? 'start' : left > 100 - edgePercent ? 'end' : 'middle';
      return chartElement('text', { x: `${left}%`, y, 'text-anchor': anchor }, text);
    });
    return chartElement('g', { class: `in-${form}` }, ...ticks);
  });
}

/** The instants below a chart that has no SVG of this shape. */
export function tickRow(axis: TimeAxis): ChartElement {
  const x = scale([axis.from, axis.to], [0, 100]);
  return chartElement(
    'svg',
    { class: 'tick-row', width: '100%', height: 18, 'aria-hidden': 'true' },
    ...tickLabels(axis, x, 13),
  );
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
