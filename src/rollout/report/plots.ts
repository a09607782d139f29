import type { EpochMs } from '../../base/time.ts';
import { writeExpectation } from '../messages/gates.ts';
import type { GateCourse } from '../status/course.ts';

/** A plot of `width` × `height`. Its texts are not escaped yet. */
export interface Plot {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly shapes: readonly Shape[];
}

export type Shape =
  | {
      readonly kind: 'bar';
      readonly fill: 'open' | 'soak';
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
      /** The tooltip. */
      readonly text: string;
    }
  | {
      readonly kind: 'line';
      readonly stroke: 'succeeded' | 'failed' | 'value' | 'limit';
      readonly points: ReadonlyArray<readonly [number, number]>;
    }
  | {
      readonly kind: 'text';
      readonly x: number;
      readonly y: number;
      readonly text: string;
      readonly anchor: 'start' | 'end';
    };

export const plotWidth = 900;
/** Space for names beside the axis. */
export const labelWidth = 140;
const rowHeight = 26;

/** A wave with the times it spent in each state. */
export interface WaveRow {
  readonly name: string;
  readonly bars: ReadonlyArray<{
    readonly fill: 'open' | 'soak';
    readonly from: EpochMs;
    readonly to: EpochMs;
  }>;
}

/** A time axis: converts instants to positions and to text. */
export interface TimeAxis {
  readonly from: EpochMs;
  readonly to: EpochMs;
  x(at: EpochMs): number;
  words(at: EpochMs): string;
}

/** Waves on a time axis. */
export function wavesPlot(rows: readonly WaveRow[], axis: TimeAxis): Plot {
  const shapes = rows.flatMap(({ name, bars }, row): Shape[] => {
    const y = row * rowHeight + 4;
    return [
      textAt({ x: 0, y: y + 14 }, name),
      ...bars.map(({ fill, from, to }): Shape => {
        const x = axis.x(from);
        const text = `${name}: ${axis.words(from)} to ${axis.words(to)}`;
        return { kind: 'bar', fill, x, y, width: Math.max(2, axis.x(to) - x), height: rowHeight - 8, text };
      }),
    ];
  });
  const height = rows.length * rowHeight + 22;
  return {
    title: 'Waves over time',
    width: plotWidth,
    height,
    shapes: [...shapes, ...axisTexts(axis, height)],
  };
}

const progressHeight = 180;
// More points than this are not visible.
const pointsMax = 300;

/** The number of succeeded and failed upgrades over time. */
export function progressPlot(
  ends: ReadonlyArray<{ readonly at: EpochMs; readonly failed: boolean }>,
  { from, to, planned }: { readonly from: EpochMs; readonly to: EpochMs; readonly planned: number },
): Plot {
  const axis = timeAxis(from, to);
  const base = progressHeight - 24;
  const high = Math.max(1, planned);
  const lineOf = (failed: boolean): Shape => {
    const instants = ends.filter((end) => end.failed === failed).map(({ at }) => at);
    const step = Math.max(1, Math.ceil(instants.length / pointsMax));
    const steps = instants.flatMap((at, index) =>
      (index + 1) % step === 0 || index === instants.length - 1 ? [[at, index + 1] as const] : [],
    );
    const last = [to, instants.length] as const;
    const points = [[from, 0] as const, ...steps, last].map(
      ([at, count]) => [axis.x(at), round(base - (count / high) * (base - 10))] as const,
    );
    return { kind: 'line', stroke: failed ? 'failed' : 'succeeded', points };
  };
  const top = textAt({ x: 0, y: 14 }, `${planned} planned (succeeded in green, failed in red)`);
  return {
    title: 'Succeeded and failed over time',
    width: plotWidth,
    height: progressHeight,
    shapes: [top, lineOf(false), lineOf(true), ...axisTexts(axis, progressHeight)],
  };
}

const gateHeight = 110;

/** The values of a gate's query over time, with a line for the limit; undefined with fewer than two values. */
export function gatePlot({ wave, name, expect, samples }: GateCourse): Plot | undefined {
  const valued = samples.flatMap(({ at, value }) => (value === null ? [] : [{ at, value }]));
  const [first, last] = [valued[0], valued.at(-1)];
  if (expect === null || first === undefined || last === undefined || valued.length < 2) return undefined;
  const values = valued.map(({ value }) => value);
  const [low, high] = [Math.min(expect.value, ...values), Math.max(expect.value, ...values)];
  const base = gateHeight - 24;
  const y = (value: number) =>
    round(high === low ? base / 2 : base - ((value - low) / (high - low)) * (base - 20));
  const axis = timeAxis(first.at, last.at);
  const limit = y(expect.value);
  return {
    title: `Gate ${name} of wave ${wave} over time`,
    width: plotWidth,
    height: gateHeight,
    shapes: [
      textAt({ x: 0, y: 14 }, `${wave}: ${name} ${writeExpectation(expect)}`),
      textAt({ x: 0, y: limit + 4 }, String(expect.value)),
      {
        kind: 'line',
        stroke: 'limit',
        points: [
          [labelWidth, limit],
          [plotWidth, limit],
        ],
      },
      {
        kind: 'line',
        stroke: 'value',
        points: valued.map(({ at, value }) => [axis.x(at), y(value)] as const),
      },
      ...axisTexts(axis, gateHeight),
    ],
  };
}

/** Makes a time axis in UTC. */
export function timeAxis(from: EpochMs, to: EpochMs): TimeAxis {
  const span = Math.max(1, to - from);
  const x = (at: EpochMs) =>
    round(labelWidth + (Math.min(Math.max(at, from), to) - from) * ((plotWidth - labelWidth) / span));
  return { from, to, x, words: clock };
}

function axisTexts({ from, to, words }: TimeAxis, height: number): readonly Shape[] {
  const y = height - 6;
  return [textAt({ x: labelWidth, y }, words(from)), textAt({ x: plotWidth, y }, words(to), 'end')];
}

function textAt(
  at: { readonly x: number; readonly y: number },
  text: string,
  anchor: 'start' | 'end' = 'start',
): Shape {
  return { kind: 'text', ...at, text, anchor };
}

/** `2026-11-22 01:37 UTC` */
export function clock(at: EpochMs): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
