import type { EpochMs } from '../../base/time.ts';
import { writeExpectation } from '../messages/gates.ts';
import type { GateCourse } from '../status/course.ts';
import type { RolloutStatus } from '../status/status.ts';

/** Shapes on a plane of `width` × `height`; whoever writes it down escapes its texts. */
export interface Plot {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly shapes: readonly Shape[];
}

export type Shape =
  | {
      readonly kind: 'bar';
      readonly fill: 'open' | 'soak' | 'waiting';
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
      /** Shown where it is pointed at. */
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

const width = 900;
const labelWidth = 140;
const rowHeight = 26;

/**
 * Waves on a time axis: open, then soaking.
 * @param soaking when each wave began to soak, by name, as far as that is known
 */
export function wavesPlot(
  { waves, createdAt }: RolloutStatus,
  until: EpochMs,
  soaking: ReadonlyMap<string, EpochMs>,
): Plot {
  const axis = axisOf(createdAt, until);
  const shapes = waves.flatMap(({ name, openedAt, passedAt }, row): Shape[] => {
    const y = row * rowHeight + 4;
    const label: Shape = { kind: 'text', x: 0, y: y + 14, text: name, anchor: 'start' };
    if (openedAt === null) return [label];
    const endsAt = passedAt ?? until;
    const soaksAt = soaking.get(name) ?? endsAt;
    const bar = (fill: 'open' | 'soak', from: EpochMs, to: EpochMs): Shape => {
      const x = axis(from);
      const words = `${name}: ${clock(from)} to ${clock(to)}`;
      return {
        kind: 'bar',
        fill,
        x,
        y,
        width: Math.max(2, axis(to) - x),
        height: rowHeight - 8,
        text: words,
      };
    };
    return [
      label,
      bar('open', openedAt, endsAt),
      ...(soaksAt < endsAt ? [bar('soak', soaksAt, endsAt)] : []),
    ];
  });
  const height = waves.length * rowHeight + 22;
  return {
    title: 'Waves over time',
    width,
    height,
    shapes: [...shapes, ...axisTexts(createdAt, until, height)],
  };
}

const progressHeight = 180;
// A line has no more points than a screen shows.
const pointsMax = 300;

/** How many had succeeded and failed, over time. */
export function progressPlot(
  ends: ReadonlyArray<{ readonly at: EpochMs; readonly failed: boolean }>,
  { from, to, planned }: { readonly from: EpochMs; readonly to: EpochMs; readonly planned: number },
): Plot {
  const axis = axisOf(from, to);
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
      ([at, count]) => [axis(at), round(base - (count / high) * (base - 10))] as const,
    );
    return { kind: 'line', stroke: failed ? 'failed' : 'succeeded', points };
  };
  const top: Shape = {
    kind: 'text',
    x: 0,
    y: 14,
    text: `${planned} planned (succeeded in green, failed in red)`,
    anchor: 'start',
  };
  return {
    title: 'Succeeded and failed over time',
    width,
    height: progressHeight,
    shapes: [top, lineOf(false), lineOf(true), ...axisTexts(from, to, progressHeight)],
  };
}

const gateHeight = 110;

/** The values of a query over time, with a line for what they must meet; undefined: it gave fewer than two. */
export function gatePlot({ wave, name, expect, samples }: GateCourse): Plot | undefined {
  const valued = samples.flatMap(({ at, value }) => (value === null ? [] : [{ at, value }]));
  const [first, last] = [valued[0], valued.at(-1)];
  if (expect === null || first === undefined || last === undefined || valued.length < 2) return undefined;
  const values = valued.map(({ value }) => value);
  const [low, high] = [Math.min(expect.value, ...values), Math.max(expect.value, ...values)];
  const base = gateHeight - 24;
  const y = (value: number) =>
    round(high === low ? base / 2 : base - ((value - low) / (high - low)) * (base - 20));
  const axis = axisOf(first.at, last.at);
  const limit = y(expect.value);
  return {
    title: `Gate ${name} of wave ${wave} over time`,
    width,
    height: gateHeight,
    shapes: [
      { kind: 'text', x: 0, y: 14, text: `${wave}: ${name} ${writeExpectation(expect)}`, anchor: 'start' },
      { kind: 'text', x: 0, y: limit + 4, text: String(expect.value), anchor: 'start' },
      {
        kind: 'line',
        stroke: 'limit',
        points: [
          [labelWidth, limit],
          [width, limit],
        ],
      },
      { kind: 'line', stroke: 'value', points: valued.map(({ at, value }) => [axis(at), y(value)] as const) },
      ...axisTexts(first.at, last.at, gateHeight),
    ],
  };
}

function axisOf(from: EpochMs, to: EpochMs): (at: EpochMs) => number {
  const span = Math.max(1, to - from);
  return (at) =>
    round(labelWidth + (Math.min(Math.max(at, from), to) - from) * ((width - labelWidth) / span));
}

function axisTexts(from: EpochMs, to: EpochMs, height: number): readonly Shape[] {
  const y = height - 6;
  return [
    { kind: 'text', x: labelWidth, y, text: clock(from), anchor: 'start' },
    { kind: 'text', x: width, y, text: clock(to), anchor: 'end' },
  ];
}

/** `2026-11-22 01:37 UTC` */
export function clock(at: EpochMs): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
