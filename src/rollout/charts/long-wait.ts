import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { RolloutNight } from '../../contract/admin/night.ts';
import { type NightWait, nightWaitText } from '../messages/night-texts.ts';
import { type ChartElement, chartElement } from './chart-element.ts';
import type { TimeAxis } from './time-axis.ts';

/** A wait before the first upgrade that would fill too much of the picture. */
interface LongWait extends NightWait {
  /** Where the axis begins instead. */
  readonly axisFrom: EpochMs;
}

// Shares of the time after the wait: how long it may be, and how much of a longer one the picture shows.
const [shareMax, shareShown] = [0.25, 0.08];
const shownMinMs: DurationMs = 60_000;

/** @returns undefined where the whole wait fits */
export function longWait(
  { lanes, bands, marks, to: endedAt }: RolloutNight,
  { from, to }: Pick<TimeAxis, 'from' | 'to'>,
  { now, isEndExpected }: { readonly now: EpochMs; readonly isEndExpected: boolean },
): LongWait | undefined {
  const begins = lanes.flatMap(({ spans }) => spans.filter(({ kind }) => kind !== 'approval'));
  const hasBegun = begins.length > 0;
  // Nothing is to be seen after it.
  if (!hasBegun && (endedAt !== null || !isEndExpected)) return undefined;
  const end = Math.min(now, ...begins.map((span) => span.from));
  const axisFrom = end - Math.max(shownMinMs, (to - end) * shareShown);
  if (axisFrom <= from || end - from <= (to - end) * shareMax) return undefined;
  const approved = marks.findLast(
    (mark) => mark.kind === 'event' && mark.at <= end && approvals.includes(mark.event),
  );
  const by = approved?.kind === 'event' ? approved.by : null;
  const isForApproval = by !== null || bands.some(({ kind }) => kind === 'approval');
  return { from, to: hasBegun ? end : null, lastsMs: end - from, isForApproval, by, axisFrom };
}

const approvals: readonly string[] = ['rollout.approved', 'wave.approved'];

/** Names the wait above the picture, which shows its end alone. */
export function waitNote(wait: LongWait, showAt: (at: EpochMs) => string): ChartElement {
  const swatch = chartElement('i', { class: 'swatch approval' });
  const text = nightWaitText(wait, showAt);
  return chartElement('p', { class: 'quiet small' }, ...(wait.isForApproval ? [swatch] : []), text);
}
