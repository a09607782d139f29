import type { TimeAxis } from '../../../rollout/charts/time-axis.ts';
import { type Stretch, waveLanes, wavesChart } from '../../../rollout/charts/waves-chart.ts';
import type { Course, Rollout } from '../parts/call.ts';
import { Chart } from '../parts/chart.tsx';
import { timeText } from '../parts/time.tsx';

const minuteMs = 60_000;

/**
 * The waves on one time axis: when each was open and when it soaked, with closed windows and freezes behind them, the
 * present, and the expected end. The list below has the same in words.
 */
export function Timeline({ rollout, course }: { rollout: Rollout; course: Course | undefined }) {
  const now = Date.now();
  if (rollout.waves.every(({ openedAt }) => openedAt === null)) return null;
  const closed = (course?.closed ?? []).map(({ from, to, kind, reason }): Stretch => {
    return { tone: kind, from, to, title: `${kind} closed: ${reason}` };
  });
  const marks = marksOf(rollout, now);
  const chart = wavesChart({
    axis: axisOf(rollout, now),
    lanes: waveLanes(rollout.waves, { until: Math.min(now, rollout.endedAt ?? now), words: timeText }),
    behind: closed,
    marks,
    legend: [
      { tone: 'good', name: 'passed' },
      { tone: 'busy', name: 'open' },
      { tone: 'soak', name: 'soak' },
      ...(closed.length === 0 ? [] : [{ tone: 'closed', name: 'closed window or freeze' }]),
      ...(marks.some(({ tone }) => tone === 'eta') ? [{ tone: 'eta', name: 'expected end' }] : []),
    ],
  });
  return <Chart chart={chart} />;
}

/** The present, and the expected end as far as it is known. */
function marksOf({ endedAt, eta }: Rollout, now: number): readonly Stretch[] {
  const present: Stretch = { tone: 'now', from: now, to: now, title: 'now' };
  if (eta?.kind !== 'at') return endedAt === null ? [present] : [];
  const { at, plusMinusMs } = eta;
  const end = { tone: 'eta', from: at - plusMinusMs, to: at + plusMinusMs };
  return [...(endedAt === null ? [present] : []), { ...end, title: `expected end ${timeText(at)}` }];
}

function axisOf({ createdAt, endedAt, eta, waves }: Rollout, now: number): TimeAxis {
  const axis = { from: createdAt, words: timeText };
  if (endedAt !== null) return { ...axis, to: Math.max(endedAt, createdAt + minuteMs) };
  const soaks = waves.map(({ soakEndsAt }) => soakEndsAt ?? 0);
  const end = eta !== null && 'at' in eta ? eta.at + ('plusMinusMs' in eta ? eta.plusMinusMs : 0) : 0;
  const last = Math.max(now, end, ...soaks);
  return { ...axis, to: last + Math.max(minuteMs, (last - createdAt) * 0.04) };
}
