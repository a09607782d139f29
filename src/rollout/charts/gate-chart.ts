import type { EpochMs } from '../../base/time.ts';
import { writeExpectation } from '../messages/gates.ts';
import type { Expectation } from '../model/expectation.ts';
import type { GateSample } from '../model/gate-answers.ts';
import { type ChartElement, chartElement } from './chart-element.ts';
import { scale } from './time-axis.ts';

type ShowAt = (at: EpochMs) => string;

interface GateParts {
  readonly name: string;
  readonly expect: Expectation | null;
  /** Oldest first. */
  readonly samples: readonly GateSample[];
}

const [width, height, edge] = [160, 32, 3];
const tones = { met: 'good', missed: 'bad', hold: 'bad', error: 'late' } as const;

/** The answers of one gate over time: its values beside the limit, or a dot for each answer without a value. */
export function gateChart(gate: GateParts, words: ShowAt): ChartElement | undefined {
  const { samples, expect } = gate;
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at) return undefined;
  const values = [...valuesOf(gate), ...(expect === null ? [] : [expect.value])];
  const x = scale([first.at, last.at], [edge, width - edge]);
  const y = scale([Math.min(...values), Math.max(...values)], [height - edge, edge]);
  const line = samples.flatMap(({ at, value }) => (value === null ? [] : [`${x(at)},${y(value)}`]));
  const limit = expect === null ? 0 : y(expect.value);
  const viewBox = `0 0 ${width} ${height}`;
  return chartElement(
    'svg',
    { class: 'trend', viewBox, role: 'img', 'aria-label': gateCourseText(gate, words) },
    ...(expect === null
      ? []
      : [chartElement('line', { class: 'limit', x1: 0, x2: width, y1: limit, y2: limit })]),
    chartElement('polyline', { points: line.join(' ') }),
    ...samples.map(({ at, value, verdict }) =>
      chartElement(
        'circle',
        { class: tones[verdict], cx: x(at), cy: value === null ? height / 2 : y(value), r: 1.8 },
        chartElement('title', {}, `${words(at)}: ${verdict}${value === null ? '' : `, ${short(value)}`}`),
      ),
    ),
  );
}

/** The chart of a gate in words. */
export function gateCourseText(gate: GateParts, words: ShowAt): string {
  const { name, expect, samples } = gate;
  const [from, to] = [samples[0]?.at ?? 0, samples.at(-1)?.at ?? 0];
  const values = valuesOf(gate);
  const met = samples.filter(({ verdict }) => verdict === 'met').length;
  const range =
    expect === null || values.length === 0
      ? ''
      : `values ${short(Math.min(...values))} to ${short(Math.max(...values))}, limit ${writeExpectation(expect)}; `;
  return `${name} from ${words(from)} to ${words(to)}: ${range}${met} of ${samples.length} answers met it`;
}

function valuesOf({ samples }: GateParts): readonly number[] {
  return samples.flatMap(({ value }) => (value === null ? [] : [value]));
}

function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
