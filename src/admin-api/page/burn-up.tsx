import type { JSX } from 'preact';
import type { Course, Rollout } from './api.ts';
import { timeWords } from './time.tsx';

type Point = Course['burnUp']['points'][number];

const [width, height] = [1_000, 240];
/** From the ground up. */
const layers = [
  { name: 'succeeded', tone: 'good' },
  { name: 'failed', tone: 'bad' },
  { name: 'inFlight', tone: 'busy' },
] as const;

/** How many succeeded, failed and were in flight, over time. */
export function BurnUp({
  rollout,
  course,
}: {
  readonly rollout: Rollout;
  readonly course: Course;
}): JSX.Element | null {
  const { points, isWhole } = course.burnUp;
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at) return null;
  const x = ({ at }: Point) => (width * (at - first.at)) / (last.at - first.at);
  const heightOf = (point: Point, layer: number) =>
    layers.slice(0, layer + 1).reduce((sum, { name }) => sum + point[name], 0);
  // A wave of a hundred would not be seen beside a fleet of ten thousand.
  const highest = Math.max(1, ...points.map((point) => heightOf(point, layers.length - 1)));
  const top = highest * 3 > rollout.planned ? rollout.planned : Math.ceil(highest * 1.15);
  const y = (count: number) => height - (height * count) / top;
  return (
    <section class="card" aria-labelledby="burn-up">
      <h2 id="burn-up">Progress over time</h2>
      <div class="burn-up">
        <span class="quiet small" aria-hidden="true">
          {top.toLocaleString('en')}
        </span>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${last.succeeded} succeeded, ${last.failed} failed and ${last.inFlight} in flight at ${timeWords(last.at)}, of ${rollout.planned}`}
        >
          {layers.map(({ name, tone }, index) => {
            const upper = points.map(
              (point) => `${x(point).toFixed(1)},${y(heightOf(point, index)).toFixed(1)}`,
            );
            const base = points
              .toReversed()
              .map((point) => `${x(point).toFixed(1)},${y(heightOf(point, index - 1)).toFixed(1)}`);
            return <polygon key={name} class={tone} points={[...upper, ...base].join(' ')} />;
          })}
        </svg>
        <div class="ticks" aria-hidden="true">
          <span>{timeWords(first.at)}</span>
          <span>{timeWords((first.at + last.at) / 2)}</span>
          <span>{timeWords(last.at)}</span>
        </div>
      </div>
      <p class="legend quiet small">
        <i class="swatch good" /> succeeded <b>{last.succeeded.toLocaleString('en')}</b>{' '}
        <i class="swatch bad" /> failed <b>{last.failed.toLocaleString('en')}</b> <i class="swatch busy" /> in
        flight <b>{last.inFlight.toLocaleString('en')}</b> of {rollout.planned.toLocaleString('en')}
        {isWhole ? '' : '. Earlier events are no longer kept.'}
      </p>
    </section>
  );
}
