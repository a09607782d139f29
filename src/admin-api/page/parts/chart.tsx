import { h, type VNode } from 'preact';
import type { ChartElement } from '../../../rollout/charts/chart-element.ts';

/** Shows a chart; nothing where there is none to show. */
export function Chart({ chart }: { readonly chart: ChartElement | undefined }) {
  return chart === undefined ? null : nodeOf(chart);
}

function nodeOf({ tag, attributes, children }: ChartElement): VNode {
  const nodes = children.map((child) => (typeof child === 'string' ? child : nodeOf(child)));
  return h(tag, { ...attributes }, ...nodes);
}
