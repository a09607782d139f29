import type { RolloutNight } from '../../src/contract/admin/night.ts';
import type { ChartElement } from '../../src/rollout/charts/chart-element.ts';
import { chartStyle } from '../../src/rollout/charts/chart-style.ts';
import { nightChart } from '../../src/rollout/charts/night-chart.ts';
import { chartText } from '../../src/rollout/report/write-report.ts';

const startedAt = Date.UTC(2026, 10, 28, 15, 5, 34);
const at = (seconds: number) => startedAt + seconds * 1_000;
const event = { kind: 'event', wave: null, by: 'root' } as const;

/** What the steps of the guide to the first rollout gave, to the second. */
const night: RolloutNight = {
  from: startedAt,
  to: at(90),
  lanes: [
    {
      ...{ wave: 'canary', state: 'open' },
      spans: [
        { kind: 'upgrade', from: at(0), to: at(55), dueAt: null },
        { kind: 'back', from: at(55), to: at(90), dueAt: null },
      ],
    },
    { wave: 'early', state: 'waiting', spans: [] },
    { wave: 'rest', state: 'waiting', spans: [] },
  ],
  bands: [
    {
      ...{ kind: 'hold', from: at(14), to: at(24), by: 'daemon' },
      reason: 'wave canary: 3 failures, 2 allowed (1 lost collector counts as 3)',
    },
  ],
  marks: [
    { ...event, at: at(0), event: 'rollout.planned', by: 'start', reason: '874 collectors to 19.536-4' },
    { ...event, at: at(18), event: 'stratum.held', reason: 'osName=Windows*: files in use' },
    { ...event, at: at(24), event: 'rollout.resumed', reason: 'Windows is held' },
    { ...event, at: at(55), event: 'rollout.rollingBack', reason: 'the build is bad' },
    { ...event, at: at(90), event: 'rollout.rolledBack', by: 'daemon', reason: '' },
  ],
};

const [width, edge] = [760, 10];

/** The picture of a rollout in the guides: the chart of the web UI, in its wide form and as a file of its own. */
export function nightPicture(): string {
  const parts = { now: at(90), nowText: 'now', eta: null, list: 'folded', zone: 'UTC' } as const;
  const chart = nightChart(night, { ...parts, localOf: (instant) => instant })?.children.find(isPlot);
  if (chart === undefined) throw new Error('the picture of a rollout has no SVG');
  const height = Number(chart.attributes['height']);
  const ground = {
    tag: 'rect',
    attributes: { x: 0, y: -edge, width, height: height + 2 * edge, class: 'ground-of-file' },
    children: [],
  };
  const title = { tag: 'title', attributes: {}, children: ['A rollout that was held, and rolled back'] };
  // The role and the label are for a document that contains it.
  const { role: _role, 'aria-label': _label, ...attributes } = chart.attributes;
  const file = {
    ...attributes,
    ...{ xmlns: 'http://www.w3.org/2000/svg', width, height: height + 2 * edge },
    viewBox: `0 ${-edge} ${width} ${height + 2 * edge}`,
  };
  const style = `${chartStyle}.ground-of-file { fill: var(--card) } .number text { stroke: none }`;
  const text = chartText({ ...chart, attributes: file, children: [title, ground, ...chart.children] });
  return `${text.replace('</title>', `</title><style>${style.replace('@container (min-width: 34rem)', '@media all')}</style>`)}\n`;
}

function isPlot(child: ChartElement | string): child is ChartElement {
  return typeof child !== 'string' && child.tag === 'svg';
}
