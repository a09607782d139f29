import { type ChartElement, chartElement } from './chart-element.ts';

interface Stripes {
  readonly turn: number;
  readonly step: number;
  readonly width: number;
  /** The length of the parts of a broken stripe. */
  readonly dash?: number;
}

/** Stripes, so that no stretch is known by its colour alone. Their colours are in the style sheet. */
const stripes = {
  soak: { turn: 45, step: 8, width: 5 },
  back: { turn: -45, step: 8, width: 3 },
  hold: { turn: 45, step: 7, width: 2 },
  // Squares, unlike the stripes of another hold.
  buildHold: { turn: 0, step: 8, width: 4, dash: 4 },
  inventory: { turn: 90, step: 7, width: 2 },
  pause: { turn: 0, step: 6, width: 2 },
  freeze: { turn: -45, step: 9, width: 2 },
} as const satisfies Readonly<Record<string, Stripes>>;

/** The patterns of the picture of a rollout. A document has one such picture. */
export const nightPatterns: ChartElement = chartElement(
  'defs',
  {},
  ...Object.entries<Stripes>(stripes).map(([name, { turn, step, width, dash }]) =>
    chartElement(
      'pattern',
      {
        ...{ id: `night-${name}`, class: `stripes ${name}`, width: step, height: step },
        ...{ patternUnits: 'userSpaceOnUse', patternTransform: `rotate(${turn})` },
      },
      chartElement('rect', { width: step, height: step }),
      chartElement('line', {
        ...{ x1: 0, x2: 0, y1: 0, y2: step, 'stroke-width': width * 2 },
        ...(dash !== undefined && { 'stroke-dasharray': dash }),
      }),
    ),
  ),
);
