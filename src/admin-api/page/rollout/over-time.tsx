import type { Course, Rollout } from '../parts/call.ts';
import { timeWords } from '../parts/time.tsx';
import { type Layer, StackedPlot } from './stacked-plot.tsx';

/** How many succeeded, failed and were in flight over time, and which builds the planned collectors ran. */
export function OverTime({ rollout, course }: { rollout: Rollout; course: Course }) {
  const { points, isWhole } = course.burnUp;
  const last = points.at(-1);
  if (last === undefined || points.length < 2) return null;
  const layers: readonly Layer[] = [
    { name: 'succeeded', tone: 'good', counts: points.map(({ succeeded }) => succeeded) },
    { name: 'failed', tone: 'bad', counts: points.map(({ failed }) => failed) },
    { name: 'in flight', tone: 'busy', counts: points.map(({ inFlight }) => inFlight) },
  ];
  const highest = Math.max(...points.map(({ succeeded, failed, inFlight }) => succeeded + failed + inFlight));
  // Before the first start, the plot would be empty.
  if (highest === 0) return null;
  // A wave of a hundred would be invisible beside a fleet of ten thousand.
  const top = highest * 3 > rollout.planned ? rollout.planned : Math.ceil(highest * 1.15);
  return (
    <section class="card" aria-labelledby="over-time">
      <h2 id="over-time">Progress over time</h2>
      <StackedPlot
        instants={points.map(({ at }) => at)}
        layers={layers}
        top={top}
        label={`${last.succeeded} succeeded, ${last.failed} failed and ${last.inFlight} in flight at ${timeWords(last.at)}, of ${rollout.planned}`}
      />
      {isWhole ? null : <p class="quiet small">Earlier events of upgrades are no longer kept.</p>}
      {course.builds === null ? null : <Builds {...course.builds} planned={rollout.planned} />}
    </section>
  );
}

type Builds = NonNullable<Course['builds']>;

function Builds({ builds, points, planned }: Builds & { readonly planned: number }) {
  const layers = builds.map((name, index): Layer => {
    const counts = points.map((point) => point.counts[index] ?? 0);
    if (index === 0) return { name, tone: 'good', counts };
    return { name, tone: 'rest', opacity: Math.max(0.25, 1 - 0.15 * (index - 1)), counts };
  });
  const words = layers.map(({ name, counts }) => `${counts.at(-1) ?? 0} on ${name}`).join(', ');
  return (
    <>
      <h3>Builds of the planned collectors</h3>
      <StackedPlot instants={points.map(({ at }) => at)} layers={layers} top={planned} label={words} />
    </>
  );
}
