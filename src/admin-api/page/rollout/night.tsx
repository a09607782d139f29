import { nightChart } from '../../../rollout/charts/night-chart.ts';
import type { Course, Rollout } from '../parts/call.ts';
import { Chart } from '../parts/chart.tsx';
import { viewersZone } from '../parts/time.tsx';

/** The rollout in one picture: waves, holds, approvals, the present, and the expected end. */
export function Night({ rollout, course }: { rollout: Rollout; course: Course | undefined }) {
  if (course === undefined) return null;
  const present = { now: Date.now(), nowText: 'now', eta: rollout.eta, waves: rollout.waves };
  const parts = { ...present, list: 'folded', ...viewersZone } as const;
  return <Chart chart={nightChart(course.night, parts)} />;
}
