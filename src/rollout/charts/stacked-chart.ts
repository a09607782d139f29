import { showCount } from '../../base/singular-or-plural.ts';
import type { EpochMs } from '../../base/time.ts';
import { type ChartElement, chartElement, legend } from './chart-element.ts';
import { type ChartZone, instantOn, scale, tickRow } from './time-axis.ts';

interface Layer {
  readonly name: string;
  readonly tone: 'good' | 'bad' | 'busy' | (typeof earlierTones)[number];
  /** One value for each instant. */
  readonly counts: readonly number[];
}

interface StackedChartParts extends ChartZone {
  readonly instants: readonly EpochMs[];
  /** From the ground up. */
  readonly layers: readonly Layer[];
  /** The value at the top of the chart. */
  readonly top: number;
  /** The same in words. */
  readonly label: string;
}

/** Tones of the builds before the target. A plan counts five, and the others together. */
const earlierTones = ['build-1', 'build-2', 'build-3', 'build-4', 'build-5', 'build-6'] as const;

const [width, height] = [1_000, 240];

/** Counts over time, one above the other; undefined where there is no time to show. */
function stackedChart({
  instants,
  layers,
  top,
  label,
  zone,
  localOf,
}: StackedChartParts): ChartElement | undefined {
  const [from, to] = [instants[0], instants.at(-1)];
  if (from === undefined || to === undefined || to <= from) return undefined;
  const x = scale([from, to], [0, width]);
  const y = scale([0, Math.max(1, top)], [height, 0]);
  let base = instants.map((at) => `${x(at)},${height}`);
  const sums = instants.map(() => 0);
  const polygons = layers.map(({ tone, counts }) => {
    const upper = instants.map((at, index) => {
      sums[index] = (sums[index] ?? 0) + (counts[index] ?? 0);
      return `${x(at)},${y(sums[index])}`;
    });
    const points = [...upper, ...base.toReversed()].join(' ');
    base = upper;
    return chartElement('polygon', { class: tone, points });
  });
  const viewBox = `0 0 ${width} ${height}`;
  return chartElement(
    'div',
    { class: 'stacked' },
    chartElement('span', { class: 'quiet small', 'aria-hidden': 'true' }, showCount(top)),
    chartElement(
      'svg',
      { class: 'layers', viewBox, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
      ...polygons,
    ),
    tickRow({ from, to, zone, localOf }),
    legend(layers.map((layer) => ({ ...layer, count: layer.counts.at(-1) ?? 0 }))),
  );
}

export interface ProgressPoint {
  readonly at: EpochMs;
  readonly succeeded: number;
  readonly failed: number;
  /** Default: unknown, and not shown. */
  readonly inFlight?: number;
}

interface Fleet extends ChartZone {
  readonly planned: number;
}

const levels = [
  { level: 'succeeded', name: 'succeeded', tone: 'good' },
  { level: 'failed', name: 'failed', tone: 'bad' },
  { level: 'inFlight', name: 'in flight', tone: 'busy' },
] as const;

/** How many upgrades had succeeded, had failed and were in flight over time; undefined before the first start. */
export function progressChart(
  points: readonly ProgressPoint[],
  { planned, zone, localOf }: Fleet,
): ChartElement | undefined {
  const last = points.at(-1);
  const highest = Math.max(
    0,
    ...points.map(({ succeeded, failed, inFlight = 0 }) => succeeded + failed + inFlight),
  );
  if (last === undefined || highest === 0) return undefined;
  const words = instantOn({ from: points[0]?.at ?? last.at, to: last.at, zone, localOf });
  const known = levels.filter(({ level }) => last[level] !== undefined);
  const counts = known.map(({ level, name }) => `${last[level]} ${name}`).join(', ');
  return stackedChart({
    instants: points.map(({ at }) => at),
    layers: known.map(({ level, ...layer }) => ({
      ...layer,
      counts: points.map((point) => point[level] ?? 0),
    })),
    // A wave of a hundred would be invisible beside a fleet of ten thousand.
    top: highest * 3 > planned ? planned : Math.ceil(highest * 1.15),
    zone,
    localOf,
    label: `${counts} at ${words(last.at)}, of ${planned}`,
  });
}

interface BuildCounts {
  /** The target first. */
  readonly builds: readonly string[];
  readonly points: ReadonlyArray<{ readonly at: EpochMs; readonly counts: readonly number[] }>;
}

/** Which builds the planned collectors ran over time. */
export function buildsChart(
  { builds, points }: BuildCounts,
  { planned, zone, localOf }: Fleet,
): ChartElement | undefined {
  const layers = builds.map((name, index): Layer => {
    const counts = points.map((point) => point.counts[index] ?? 0);
    const tone = index === 0 ? 'good' : (earlierTones[index - 1] ?? 'build-6');
    return { name, tone, counts };
  });
  const label = layers.map(({ name, counts }) => `${counts.at(-1) ?? 0} on ${name}`).join(', ');
  return stackedChart({ instants: points.map(({ at }) => at), layers, top: planned, zone, localOf, label });
}
