import { buildsChart, progressChart } from '../../../rollout/charts/stacked-chart.ts';
import type { Course, Rollout } from '../parts/call.ts';
import { Chart } from '../parts/chart.tsx';
import { failedOf, inFlightOf } from '../parts/progress.tsx';
import { viewersZone } from '../parts/time.tsx';

/** How many succeeded, failed and were in flight over time, and which builds the planned collectors ran. */
export function OverTime({ rollout, course: { burnUp, builds } }: { rollout: Rollout; course: Course }) {
  const { planned, counts } = rollout;
  const fleet = { planned, ...viewersZone };
  // The course is read less often than the counts beside it.
  const present = { succeeded: counts.succeeded, failed: failedOf(counts), inFlight: inFlightOf(counts) };
  const last = burnUp.points.slice(-1).map(({ at }) => ({ at, ...present }));
  const progress = progressChart([...burnUp.points.slice(0, -1), ...last], fleet);
  if (progress === undefined) return <p class="quiet">Nothing happened yet.</p>;
  return (
    <div class="over-time">
      <div>
        <h3>Upgrades</h3>
        <Chart chart={progress} />
        {burnUp.isWhole ? null : <p class="quiet small">Earlier events of upgrades are no longer kept.</p>}
      </div>
      {builds === null ? null : (
        <div>
          <h3>Builds of the planned collectors</h3>
          <Chart chart={buildsChart(builds, fleet)} />
        </div>
      )}
    </div>
  );
}
