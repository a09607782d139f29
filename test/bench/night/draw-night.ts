import { goals } from '../goals.ts';
import { mebibytes } from '../report.ts';
import { daemonNames } from './night-team.ts';
import type { Fault } from './run-night.ts';
import type { Sample, Watched } from './watch-night.ts';
import { windowSeconds, windowsOf } from './windows.ts';

/** NaN is a gap. */
type Point = readonly [seconds: number, value: number];

interface Panel {
  readonly title: string;
  readonly lines: ReadonlyArray<{ readonly name: string; readonly points: readonly Point[] }>;
  /** Shown as a dashed line. */
  readonly goal?: number;
}

const width = 760;
const panelHeight = 112;
const plot = { left: 62, right: 14, top: 44, bottom: 36, gap: 34 } as const;
// A point each two pixels: a night has thousands of seconds.
const pointsMax = (width - plot.left - plot.right) / 2;
const lineClasses = ['one', 'two', 'three', 'four'] as const;

// In seconds: the largest step that gives at least five marks.
const steps = [5, 10, 30, 60, 120, 300, 600, 1_200, 3_600] as const;

const style = `
text { fill: #1b2733; stroke: #fff; stroke-width: 4; paint-order: stroke } .grid { stroke: #d5dbe1 } .goal { stroke: #7a8794; stroke-dasharray: 4 3 }
.fault { stroke: #b3261e; stroke-dasharray: 2 3 } .fault-text { fill: #b3261e } .ground { fill: #fff }
.one { --tone: #1261a6 } .two { --tone: #b55a00 } .three { --tone: #5b3fa8 } .four { --tone: #3c7a2f }
.line { fill: none; stroke: var(--tone); stroke-width: 1.5 } .name { fill: var(--tone); font-weight: bold }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; stroke: #18212a } .grid { stroke: #2c3944 } .goal { stroke: #8a99a6 }
  .fault { stroke: #f77f78 } .fault-text { fill: #f77f78 } .ground { fill: #18212a }
  .one { --tone: #6cb1f2 } .two { --tone: #e3a04a } .three { --tone: #b9a3ff } .four { --tone: #7cc76b }
}`;

/** A night over time, with its faults as vertical lines, as an SVG that needs nothing else. */
export function drawNight(night: Watched & { readonly faults: readonly Fault[] }): string {
  const endSeconds = Math.max(1, night.samples.at(-1)?.at ?? 0);
  const panels = panelsOf(night);
  const height = plot.top + panels.length * (panelHeight + plot.gap) - plot.gap + plot.bottom;
  const bottom = height - plot.bottom;
  const x = (seconds: number) => plot.left + (seconds / endSeconds) * (width - plot.left - plot.right);
  const stepSeconds = steps.findLast((step) => endSeconds / step >= 5) ?? steps[0];
  const marks = Array.from({ length: Math.floor(endSeconds / stepSeconds) + 1 }, (_none, index) => {
    const minutes = (index * stepSeconds) / 60;
    return textAt([x(index * stepSeconds), bottom + 16], String(+minutes.toFixed(1)), 'text-anchor="middle"');
  });
  const faults = night.faults.map(({ name, from }, index) => ({
    line: `<path class="fault" d="M${x(from).toFixed(1)} ${plot.top - 12}V${bottom}"/>`,
    label: textAt(
      [x(from), plot.top - 16 - (index % 2) * 14],
      name,
      'class="fault-text" text-anchor="middle"',
    ),
  }));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    '<title>A whole night at size</title>',
    `<style>${style}\n</style>`,
    `<rect class="ground" width="${width}" height="${height}"/>`,
    ...faults.map(({ line }) => line),
    ...panels.flatMap((panel, index) =>
      drawPanel(panel, plot.top + index * (panelHeight + plot.gap) + 16, x),
    ),
    ...marks,
    textAt([width / 2, height - 5], 'minutes', 'text-anchor="middle"'),
    ...faults.map(({ label }) => label),
    '</svg>\n',
  ].join('\n');
}

function panelsOf(night: Watched): readonly Panel[] {
  const { lags } = night;
  const sampleEvery = Math.ceil(night.samples.length / pointsMax);
  const samples = night.samples.filter((_sample, index) => index % sampleEvery === 0);
  const memory = (name: string, bytesOf: (sample: Sample) => number | undefined) => ({
    name,
    points: samples.map((sample): Point => [sample.at, mebibytes(bytesOf(sample) ?? Number.NaN)]),
  });
  const redis = ({ usages }: Sample) =>
    Math.max(usages['Redis 1']?.rssBytes ?? 0, usages['Redis 2']?.rssBytes ?? 0);
  return [
    {
      title: 'upgrades ended',
      lines: [{ name: '', points: samples.map(({ at, ended }): Point => [at, ended]) }],
    },
    {
      title: 'memory, MiB',
      lines: [
        ...daemonNames.map((name) => memory(name, ({ usages }) => usages[name]?.rssBytes)),
        memory('Redis', redis),
        memory('reference service', ({ usages }) => usages.service?.rssBytes),
      ],
    },
    {
      title: 'event loop, p99 of 10 s, ms late',
      goal: goals.turnMs,
      lines: daemonNames.map((name) => ({
        name,
        points: lags
          // The first one tells of the start.
          .filter(({ daemon, at }) => daemon === name && at > windowSeconds / 2)
          .map(({ at, p99Ms }): Point => [at - windowSeconds / 2, p99Ms]),
      })),
    },
    {
      title: 'answers, p95 of 10 s, ms',
      goal: goals.readMs,
      lines: [
        {
          name: '',
          points: windowsOf(night).map(
            ({ from, readsP95Ms }): Point => [from + windowSeconds / 2, readsP95Ms],
          ),
        },
      ],
    },
  ];
}

function drawPanel(
  { title, lines, goal }: Panel,
  top: number,
  x: (seconds: number) => number,
): readonly string[] {
  const inner = panelHeight - 16;
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value));
  const highest = Math.max(goal ?? 0, ...values.filter((value) => !Number.isNaN(value)));
  const most = roundUp(highest);
  const y = (value: number) => top + inner - (value / most) * inner;
  const across = (value: number, name: string) =>
    `<path class="${name}" d="M${plot.left} ${y(value).toFixed(1)}H${width - plot.right}"/>`;
  const goalText = goal === undefined ? '' : `, goal ${goal}`;
  const names = lines.map(({ name }, index) =>
    name === '' ? '' : `<tspan class="${lineClasses[index]} name" dx="12">${name}</tspan>`,
  );
  return [
    ...[0, most / 2, most].flatMap((value) => [
      across(value, 'grid'),
      textAt([plot.left - 6, y(value) + 4], value.toLocaleString('en'), 'text-anchor="end"'),
    ]),
    ...(goal === undefined ? [] : [across(goal, 'goal')]),
    `<text x="${plot.left}" y="${top - 6}">${title}${goalText}${names.join('')}</text>`,
    ...lines.map(({ points }, index) => {
      const path = points.map(([at, value], of) => {
        if (Number.isNaN(value)) return '';
        const isFirst = Number.isNaN(points[of - 1]?.[1] ?? Number.NaN);
        return `${isFirst ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
      });
      return `<path class="line ${lineClasses[index]}" d="${path.join('')}"/>`;
    }),
  ];
}

/** The next of 1, 2, 4, 5, 8 or 10 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return power * ([1, 2, 4, 5, 8].find((times) => value <= times * power) ?? 10);
}

function textAt([x, y]: Point, words: string, more: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${words}</text>`;
}
