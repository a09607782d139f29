import { showCount } from '../../base/singular-or-plural.ts';
/** An element of HTML or SVG as data: the web UI makes it a node, a report makes it text. Its texts are not escaped yet. */
export interface ChartElement {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly children: ReadonlyArray<ChartElement | string>;
}

export function chartElement(
  tag: string,
  attributes: ChartElement['attributes'] = {},
  ...children: ChartElement['children']
): ChartElement {
  return { tag, attributes, children };
}

/** An entry of a legend: the class of its colour, its name, and its count. */
export interface LegendEntry {
  readonly tone: string;
  readonly name: string;
  readonly count?: number;
}

/** Names the colours of a chart. */
export function legend(entries: readonly LegendEntry[]): ChartElement {
  const parts = entries.map(({ tone, name, count }) =>
    chartElement(
      'span',
      {},
      chartElement('i', { class: `swatch ${tone}` }),
      ` ${name} `,
      ...(count === undefined ? [] : [chartElement('b', {}, showCount(count)), ' ']),
    ),
  );
  return chartElement('p', { class: 'legend quiet small' }, ...parts);
}
