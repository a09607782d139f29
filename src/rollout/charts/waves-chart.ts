import type { EpochMs } from '../../base/time.ts';
import type { Wave } from '../model/rollout.ts';
import { type ChartElement, chartElement, type LegendEntry, legend } from './chart-element.ts';
import { scale, type TimeAxis, ticks } from './time-axis.ts';

/** A stretch of time; its tone is the class of its colour. */
export interface Stretch {
  readonly tone: string;
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** The tooltip. Default: the lane's name with both instants. */
  readonly title?: string;
}

export interface Lane {
  readonly name: string;
  readonly stretches: readonly Stretch[];
}

interface WavesChartParts {
  readonly axis: TimeAxis;
  readonly lanes: readonly Lane[];
  /** Stretches of all lanes, such as a closed window. */
  readonly behind?: readonly Stretch[];
  /** What lies over all lanes, such as the present. */
  readonly marks?: readonly Stretch[];
  readonly legend?: readonly LegendEntry[];
}

/** Waves on one time axis. The text beside the chart has the same in words. */
export function wavesChart({
  axis,
  lanes,
  behind = [],
  marks = [],
  ...parts
}: WavesChartParts): ChartElement {
  const { from, to, words } = axis;
  const left = scale([from, to], [0, 100]);
  const drawn = (stretch: Stretch, kind: string, title: string): ChartElement => {
    const start = left(stretch.from);
    const style = `left:${start}%;width:${(left(stretch.to) - start).toFixed(1)}%`;
    return chartElement('i', { class: `${kind} ${stretch.tone}`, title, style });
  };
  const isShown = (stretch: Stretch): boolean => stretch.to > from && stretch.from < to;
  const rows = lanes.map(({ name, stretches }) => {
    const spans = stretches
      .filter(isShown)
      .map((each) => drawn(each, 'span', each.title ?? `${name}: ${words(each.from)} to ${words(each.to)}`));
    return chartElement('div', { class: 'lane' }, chartElement('span', {}, name), ...spans);
  });
  return chartElement(
    'div',
    { class: 'timeline', role: 'img', 'aria-label': `Waves from ${words(from)} to ${words(to)}` },
    chartElement(
      'div',
      { class: 'plot' },
      ...behind.filter(isShown).map((each) => drawn(each, 'closed', each.title ?? '')),
      ...rows,
      ...marks.map((each) => drawn(each, 'mark', each.title ?? '')),
    ),
    ticks(axis),
    ...(parts.legend === undefined ? [] : [legend(parts.legend)]),
  );
}

type TimedWave = Pick<Wave, 'name' | 'state' | 'openedAt' | 'passedAt' | 'soakEndsAt'>;

/** When each wave was open, and when it soaked. `soaksAt` has the beginnings of soaks, as far as they are known. */
export function waveLanes(
  waves: readonly TimedWave[],
  {
    until,
    words,
    soaksAt = new Map(),
  }: Pick<TimeAxis, 'words'> & { until: EpochMs; soaksAt?: ReadonlyMap<string, EpochMs> },
): readonly Lane[] {
  return waves.map(({ name, state, openedAt, passedAt, soakEndsAt }) => {
    if (openedAt === null) return { name, stretches: [] };
    const to = passedAt ?? Math.max(until, openedAt);
    const soaks = soaksAt.get(name) ?? (state === 'soaking' ? openedAt : to);
    const open: Stretch = { tone: passedAt === null ? 'busy' : 'good', from: openedAt, to };
    const isAhead = state === 'soaking' && soakEndsAt !== null && soakEndsAt > until;
    return {
      name,
      stretches: [
        ...(soaks > openedAt ? [open] : []),
        ...(soaks < to ? [{ tone: 'soak', from: soaks, to }] : []),
        ...(isAhead
          ? [
              {
                tone: 'ahead',
                from: until,
                to: soakEndsAt,
                title: `${name} soaks until ${words(soakEndsAt)}`,
              },
            ]
          : []),
      ],
    };
  });
}
