import { timeWords } from '../parts/time.tsx';

export interface Layer {
  readonly name: string;
  readonly tone: 'good' | 'bad' | 'busy' | 'rest';
  /** The shade of its tone, to distinguish series of one tone. */
  readonly opacity?: number;
  /** One value for each instant. */
  readonly counts: readonly number[];
}

interface StackedPlotProps {
  readonly instants: readonly number[];
  /** From the ground up. */
  readonly layers: readonly Layer[];
  /** The value at the top of the plot. */
  readonly top: number;
  /** The same in words. */
  readonly label: string;
}

const [width, height] = [1_000, 240];

/** Counts over time, one above the other; null where there is no time to show. */
export function StackedPlot({ instants, layers, top, label }: StackedPlotProps) {
  const [first, last] = [instants[0], instants.at(-1)];
  if (first === undefined || last === undefined || last <= first) return null;
  const x = (at: number) => ((width * (at - first)) / (last - first)).toFixed(1);
  const y = (layer: number, index: number) => {
    const count = layers.slice(0, layer + 1).reduce((sum, { counts }) => sum + (counts[index] ?? 0), 0);
    return (height - (height * count) / Math.max(1, top)).toFixed(1);
  };
  return (
    <div class="stacked">
      <span class="quiet small" aria-hidden="true">
        {top.toLocaleString('en')}
      </span>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {layers.map(({ name, tone, opacity = 1 }, layer) => {
          const upper = instants.map((at, index) => `${x(at)},${y(layer, index)}`);
          const base = instants.map((at, index) => `${x(at)},${y(layer - 1, index)}`).reverse();
          return (
            <polygon key={name} class={tone} fill-opacity={opacity} points={[...upper, ...base].join(' ')} />
          );
        })}
      </svg>
      <div class="ticks" aria-hidden="true">
        {[first, (first + last) / 2, last].map((at) => (
          <span key={at}>{timeWords(at)}</span>
        ))}
      </div>
      <p class="legend quiet small">
        {layers.map(({ name, tone, opacity = 1, counts }) => (
          <span key={name}>
            <i class={`swatch ${tone}`} style={{ opacity }} /> {name}{' '}
            <b>{(counts.at(-1) ?? 0).toLocaleString('en')}</b>{' '}
          </span>
        ))}
      </p>
    </div>
  );
}
