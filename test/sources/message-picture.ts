import { wrap } from '../../src/docs/text-layout.ts';
import type { WrittenNotice } from '../../src/observability/notifications/written-notice.ts';
import { type ChartElement, chartElement } from '../../src/rollout/charts/chart-element.ts';
import { chartStyle } from '../../src/rollout/charts/chart-style.ts';
import { chartText } from '../../src/rollout/report/write-report.ts';
import { buttonLabels, writtenSamples } from './notice-samples.ts';

const [columns, cardWidth, gap, lineHeight, inset] = [2, 420, 20, 19, 14];
/** Letters in a line of a card, of the narrow ones that most are. */
const lineLength = 57;
const buttonLetterPx = 7.6;

const style = `${chartStyle}
text { fill: var(--text); font: 13px system-ui, sans-serif }
.name { fill: var(--quiet); font-size: 12px }
.title { font-weight: 700 }
.command { font: 11.5px ui-monospace, monospace }
.card { fill: var(--card); stroke: var(--line) }
.edge { fill: var(--tone) }
.button { fill: var(--card); stroke: var(--quiet) }`;

/** A picture of a message of each kind, as a chat shows it: a coloured edge, figures, causes, commands and buttons. */
export function messagePicture(): string {
  const cards = writtenSamples().map(([name, written]) => drawCard(name, written));
  const heights = Array.from({ length: columns }, () => gap);
  const placed = cards.map(({ height, parts }) => {
    const column = heights.indexOf(Math.min(...heights));
    const top = heights[column] ?? 0;
    heights[column] = top + height + gap;
    const place = `translate(${gap + column * (cardWidth + gap)} ${top})`;
    return chartElement('g', { transform: place }, ...parts);
  });
  const [width, height] = [columns * (cardWidth + gap) + gap, Math.max(...heights)];
  const title = chartElement('title', {}, 'One message of each kind');
  const ground = chartElement('rect', { width, height, style: 'fill: var(--ground)' });
  const size = { width, height, viewBox: `0 0 ${width} ${height}`, xmlns: 'http://www.w3.org/2000/svg' };
  const text = chartText(chartElement('svg', size, title, ground, ...placed));
  return `${text.replace('</title>', `</title><style>${style}</style>`)}\n`;
}

function drawCard(name: string, written: WrittenNotice) {
  const { tone, title, cause, figures, causes, commands } = written;
  const lines = [
    { kind: 'title', text: title },
    ...linesOf('plain', [cause]),
    ...linesOf(
      'plain',
      figures === null
        ? []
        : [figures.where, figures.values.map(({ name: of, value }) => `${of} ${value}`).join(' · ')],
    ),
    ...linesOf(
      'plain',
      causes.map((each) => `• ${each}`),
    ),
    ...commands.map((text) => ({ kind: 'command', text })),
  ];
  const buttons = placeButtons(written);
  const buttonsTop = 26 + lines.length * lineHeight + 8;
  const height = buttonsTop + 34 * (1 + (buttons.at(-1)?.row ?? 0)) + 6;
  const shape = { y: 18, height: height - 18, rx: 4 };
  return {
    height,
    parts: [
      chartElement('text', { class: 'name', x: 0, y: 12 }, name),
      chartElement('rect', { class: 'card', width: cardWidth, ...shape }),
      chartElement('rect', { class: `edge ${tone}`, width: 5, ...shape }),
      ...lines.map(({ kind, text }, index) =>
        chartElement('text', { class: kind, x: inset, y: 38 + index * lineHeight }, text),
      ),
      ...buttons.flatMap((button) => drawButton(button, buttonsTop)),
    ],
  };
}

function linesOf(kind: string, texts: readonly string[]) {
  return texts.flatMap((text) =>
    wrap(text, lineLength)
      .split('\n')
      .map((line) => ({ kind, text: line })),
  );
}

interface Button {
  readonly label: string;
  readonly x: number;
  readonly row: number;
  readonly width: number;
}

function placeButtons(written: WrittenNotice): readonly Button[] {
  const placed: Button[] = [];
  for (const label of buttonLabels(written)) {
    if (label === undefined) continue;
    const width = label.length * buttonLetterPx + 16;
    const last = placed.at(-1);
    const x = last === undefined ? inset : last.x + last.width + 8;
    const fits = x + width <= cardWidth - inset;
    placed.push({ label, width, x: fits ? x : inset, row: (last?.row ?? 0) + (fits ? 0 : 1) });
  }
  return placed;
}

function drawButton({ label, x, row, width }: Button, top: number): readonly ChartElement[] {
  const y = top + row * 34;
  return [
    chartElement('rect', { class: 'button', x, y, width, height: 26, rx: 4 }),
    chartElement('text', { x: x + 8, y: y + 17 }, label),
  ];
}
