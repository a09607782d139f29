import type { Course } from '../parts/call.ts';
import { timeWords } from '../parts/time.tsx';

type Gate = Course['gates'][number];
type Sample = Gate['samples'][number];

const [width, height, edge] = [160, 32, 3];
const tones = { met: 'good', missed: 'bad', hold: 'bad', error: 'late' } as const;

/** The answers of one gate over time: its values beside the limit, or a tick for each answer without a value. */
export function GateTrend({ gate }: { readonly gate: Gate | undefined }) {
  if (gate === undefined) return null;
  const { samples, expect } = gate;
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at) return null;
  const x = ({ at }: Sample) => edge + ((width - 2 * edge) * (at - first.at)) / (last.at - first.at);
  const y = heightsOf(gate);
  const line = samples.flatMap((each) =>
    each.value === null ? [] : [`${x(each).toFixed(1)},${y(each.value).toFixed(1)}`],
  );
  return (
    <svg
      class="trend"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${gate.name} from ${timeWords(first.at)} to ${timeWords(last.at)}: ${words(gate)}`}
    >
      {expect === null ? null : (
        <line class="limit" x1="0" x2={width} y1={y(expect.value)} y2={y(expect.value)} />
      )}
      <polyline points={line.join(' ')} />
      {samples.map((sample) => (
        <circle
          key={sample.at}
          class={tones[sample.verdict]}
          cx={x(sample)}
          cy={sample.value === null ? height / 2 : y(sample.value)}
          r="1.8"
        />
      ))}
    </svg>
  );
}

/** Where a value stands between the lowest and the highest one, the limit included. */
function heightsOf({ samples, expect }: Gate): (value: number) => number {
  const values = samples.flatMap(({ value }) => (value === null ? [] : [value]));
  if (expect !== null) values.push(expect.value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return (value) =>
    high === low ? height / 2 : height - edge - ((height - 2 * edge) * (value - low)) / (high - low);
}

function words({ samples, expect }: Gate): string {
  const values = samples.flatMap(({ value }) => (value === null ? [] : [value]));
  const missed = samples.filter(({ verdict }) => verdict !== 'met').length;
  const range =
    expect === null || values.length === 0
      ? ''
      : `values ${short(Math.min(...values))} to ${short(Math.max(...values))}, limit ${expect.operator} ${expect.value}; `;
  return `${range}${samples.length - missed} of ${samples.length} answers met it`;
}

function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
