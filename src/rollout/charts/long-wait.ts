import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { RolloutNight } from '../../contract/admin/night.ts';
import type { Eta } from '../../contract/admin/rollout-status.ts';
import {
  deferredText,
  type NightWait,
  type NightWaitAhead,
  nightBandCause,
  nightCutText,
  nightSpanCause,
  nightWaitText,
} from '../messages/night-texts.ts';
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
  const begin = beginOf(lanes);
  const hasBegun = begin !== undefined;
  // Nothing is to be seen after it.
  if (!hasBegun && (endedAt !== null || !isEndExpected)) return undefined;
  const end = Math.min(now, begin ?? now);
  const axisFrom = end - Math.max(shownMinMs, (to - end) * shareShown);
  if (axisFrom <= from || end - from <= (to - end) * shareMax) return undefined;
  const approved = marks.findLast(
    (mark) => mark.kind === 'event' && mark.at <= end && approvals.includes(mark.event),
  );
  const by = approved?.kind === 'event' ? approved.by : null;
  const isForApproval = by !== null || bands.some(({ kind }) => kind === 'approval');
  return { from, to: hasBegun ? end : null, lastsMs: end - from, isForApproval, by, axisFrom };
}

/** When the first upgrade could start; undefined: not yet. */
function beginOf(lanes: RolloutNight['lanes']): EpochMs | undefined {
  const begins = lanes.flatMap(({ spans }) => spans.filter(({ kind }) => kind !== 'approval'));
  return begins.length === 0 ? undefined : Math.min(...begins.map((span) => span.from));
}

/** A wait that lasts or is to come, next to which the night so far would be too small. */
interface WaitAhead extends NightWaitAhead {
  /** Where the axis ends instead. */
  readonly axisTo: EpochMs;
}

// With less than a fifth of the picture, the night so far would have no room for its numbers on a phone.
const [shareMin, shareShownAhead] = [0.25, 0.25];

/** @returns undefined where the whole wait fits, or nothing could start before it, so that the plan is all there is to see */
export function longWaitAhead(
  night: RolloutNight,
  axisTo: EpochMs,
  { now, eta }: { readonly now: EpochMs; readonly eta: Eta | null },
): WaitAhead | undefined {
  const begin = night.to === null ? openFrom(night) : undefined;
  if (begin === undefined || begin >= now) return undefined;
  const waits = [...waitsAhead(night, now, axisTo), ...deferredAhead(eta, now)];
  for (const { from, ...wait } of waits.toSorted((a, b) => a.from - b.from)) {
    const shownMs = Math.max(shownMinMs, (from - begin) * shareShownAhead);
    const lastsMs = Math.min(wait.to ?? axisTo, axisTo) - from;
    if (from - begin < lastsMs * shareMin && shownMs < lastsMs) return { ...wait, axisTo: from + shownMs };
  }
  return undefined;
}

/** When the first upgrade could start by the calendar. */
function openFrom({ lanes, bands }: RolloutNight): EpochMs | undefined {
  const begin = beginOf(lanes);
  if (begin === undefined) return undefined;
  return bands
    .filter(isClosed)
    .reduce((at, { from, to }) => (from <= at ? Math.max(at, to ?? Number.POSITIVE_INFINITY) : at), begin);
}

function waitsAhead({ lanes, bands }: RolloutNight, now: EpochMs, axisTo: EpochMs) {
  const closed = bands.filter(isClosed).map((band) => {
    return { from: Math.max(now, band.from), to: band.to, why: nightBandCause(band) };
  });
  const soaks = lanes.flatMap(({ wave, spans }) =>
    spans.flatMap((span) => {
      const { to, dueAt } = span;
      // The plan after a short soak is worth more than a larger night so far.
      if (to !== null || dueAt === null || dueAt - now < axisTo - dueAt) return [];
      return [{ from: now, to: dueAt, why: nightSpanCause(wave, span) }];
    }),
  );
  return [...closed, ...soaks];
}

/** Collectors that are away may be awaited for days. */
function deferredAhead(eta: Eta | null, now: EpochMs) {
  if (eta?.kind !== 'atTheLatest') return [];
  return [{ from: Math.max(now, eta.othersAt ?? now), to: eta.at, why: deferredText }];
}

/** Windows and freezes are known for longer than the picture lasts. */
export function isClosed({ kind }: RolloutNight['bands'][number]): boolean {
  return kind === 'window' || kind === 'freeze';
}

const approvals: readonly string[] = ['rollout.approved', 'wave.approved'];

/** Names the wait above the picture, which shows its end alone. */
export function waitNote(wait: LongWait, showAt: (at: EpochMs) => string): ChartElement {
  const swatch = chartElement('i', { class: 'swatch approval' });
  const text = nightWaitText(wait, showAt);
  return chartElement('p', { class: 'quiet small' }, ...(wait.isForApproval ? [swatch] : []), text);
}

/** Names what comes after the end of the axis. */
export function aheadNote(wait: WaitAhead, endText: string, showAt: (at: EpochMs) => string): ChartElement {
  const texts = [nightCutText(wait, showAt), ...(endText === '' ? [] : [endText])];
  return chartElement('p', { class: 'quiet small' }, texts.join('. '));
}
