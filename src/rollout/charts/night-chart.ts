import type { EpochMs } from '../../base/time.ts';
import type { RolloutNight } from '../../contract/admin/night.ts';
import type { Eta } from '../../contract/admin/rollout-status.ts';
import type { WaveStatus } from '../../contract/admin/status-parts.ts';
import { etaText } from '../messages/eta-texts.ts';
import { gateReadingText, nightAheadText, nightBandText, nightSpanText } from '../messages/night-texts.ts';
import { waveStageText } from '../messages/sentences.ts';
import { type ChartElement, chartElement, type LegendEntry, legend } from './chart-element.ts';
import { aheadNote, isClosed, longWait, longWaitAhead, waitNote } from './long-wait.ts';
import { groupNumbers, type NightEntry, nightEntries } from './night-entries.ts';
import { nightPatterns } from './night-patterns.ts';
import { type ChartZone, instantOn, scale, type TimeAxis, tickLabels } from './time-axis.ts';

type Lane = RolloutNight['lanes'][number];
type Span = Lane['spans'][number];

interface Stretch {
  readonly from: EpochMs;
  readonly to: EpochMs;
}

interface NightParts extends ChartZone {
  readonly now: EpochMs;
  /** What the line at that instant is called. */
  readonly nowText: string;
  /** When the rollout is expected to end; null: unknown, or it has ended. */
  readonly eta: Eta | null;
  /** When each wave is expected to begin and to end. Default: that is unknown. */
  readonly waves?: ReadonlyArray<Pick<WaveStatus, 'name' | 'expected'>>;
  /** Whether the list below the picture is open, as in a document. One longer than a screen is always folded. */
  readonly list: 'open' | 'folded';
}

const [shortestMs, tailMs] = [1_000, 5_000];
// Pixels. The numbers are above the lanes, and the time is below them.
const [numbersHeight, laneHeight, barTop, barHeight, ticksHeight] = [26, 42, 20, 14, 22];
/** The widths for which numbers are placed: a phone's, and the least width of the wider form. */
const linesPx = { narrow: 290, wide: 540 } as const;

/**
 * A rollout in one picture: its waves as lanes on one time axis, what stopped all of them behind, numbers that lead to the
 * list below, the present, and the expected end. Undefined while there is nothing to show.
 */
export function nightChart(night: RolloutNight, parts: NightParts): ChartElement | undefined {
  const { lanes, bands } = night;
  if (bands.length === 0 && lanes.every(({ spans }) => spans.length === 0)) return undefined;
  const end = endOf(parts);
  const { whole, axis, wait, waitAhead } = axesOf(night, parts, end);
  const x = scale([axis.from, axis.to], [2, 98]);
  const listed = within(night, whole);
  const shown = within(listed, axis);
  const showAt = instantOn(axis);
  const view = { axis, x, showAt };
  const ahead = new Map(night.to === null ? lanes.map((lane) => [lane.wave, aheadOf(lane, parts)]) : []);
  const aheadTexts = [...ahead].flatMap(([wave, stretch]) =>
    stretch === undefined ? [] : [nightAheadText(wave, stretch, showAt)],
  );
  const endText = end === null ? [] : [`Expected end: ${etaText(end.eta, showAt)}`];
  const shownAhead = new Map([...ahead].filter(([, stretch]) => isBefore(axis.to, stretch)));
  const shownEnd = isBefore(axis.to, end) ? end : null;
  const entries = nightEntries(listed, showAt);
  const height = numbersHeight + lanes.length * laneHeight + ticksHeight;
  const present: readonly ChartElement[] =
    night.to === null ? [line('present', x(parts.now), { lanes: lanes.length, title: parts.nowText })] : [];
  const svg = chartElement(
    'svg',
    { class: 'plot', width: '100%', height, role: 'img', 'aria-label': labelOf(axis, showAt) },
    nightPatterns,
    ...bandsBehind(shown, { ...view, now: parts.now }),
    ...(wait === undefined ? [] : [line('cut', x(axis.from), { lanes: lanes.length })]),
    ...(waitAhead === undefined ? [] : [line('cut', x(axis.to), { lanes: lanes.length })]),
    ...numbers(entries, x, lanes.length),
    ...lanes.flatMap((lane, index) =>
      laneOf(night, lane, { ...view, index, now: parts.now, ahead: shownAhead.get(lane.wave) }),
    ),
    ...endMark(shownEnd, { lanes: lanes.length, x, title: endText.join('') }),
    ...present,
    ...tickLabels(axis, x, height - 6),
  );
  return chartElement(
    'div',
    { class: 'night' },
    ...(wait === undefined ? [] : [waitNote(wait, showAt)]),
    ...(waitAhead === undefined ? [] : [aheadNote(waitAhead, endText.join(''), showAt)]),
    svg,
    legend(legendOf(shown, parts.nowText, { end: shownEnd, ahead: shownAhead.size > 0 })),
    listOf([...entries.map(({ text }) => text), ...aheadTexts, ...endText], parts),
  );
}

type Position = (at: EpochMs) => number;

/** Where an instant of the axis is, and how it is written. */
interface View {
  readonly axis: TimeAxis;
  readonly x: Position;
  showAt(at: EpochMs): string;
}

interface ExpectedEnd {
  readonly from: EpochMs;
  readonly to: EpochMs;
  readonly eta: Eta;
}

function endOf({ eta, now }: NightParts): ExpectedEnd | null {
  if (eta === null || eta.kind === 'unknown') return null;
  const at = eta.kind === 'afterApproval' ? (eta.approvalAt ?? now) + eta.durationMs : eta.at;
  const plusMinusMs = eta.kind === 'atTheLatest' ? 0 : eta.plusMinusMs;
  return { from: Math.max(now, at - plusMinusMs), to: Math.max(now, at + plusMinusMs), eta };
}

function axisOf(night: RolloutNight, { now, zone, localOf }: NightParts, end: ExpectedEnd | null): TimeAxis {
  const { from, to, lanes, bands, marks } = night;
  const clock = { from, zone, localOf };
  const known = [
    ...bands.map((band) => (isClosed(band) ? from : (band.to ?? from))),
    ...marks.map(({ at }) => at),
  ];
  if (to !== null) return { ...clock, to: Math.max(to, from + shortestMs, ...known) };
  const due = lanes.flatMap(({ spans }) => spans.map((span) => span.dueAt ?? from));
  const last = Math.max(now, end?.to ?? now, ...due, ...known);
  return { ...clock, to: last + Math.max(tailMs, (last - from) * 0.04) };
}

/** The axis of the whole rollout, and that of the picture, which has long waits cut off. */
function axesOf(night: RolloutNight, parts: NightParts, end: ExpectedEnd | null) {
  const whole = axisOf(night, parts, end);
  const waitAhead = longWaitAhead(night, whole.to, parts);
  const until = { ...whole, to: waitAhead?.axisTo ?? whole.to };
  const wait = longWait(night, until, { now: parts.now, isEndExpected: end !== null });
  const later = wait === undefined ? whole : axisOf({ ...night, from: wait.axisFrom }, parts, end);
  return { whole, axis: { ...later, to: waitAhead?.axisTo ?? later.to }, wait, waitAhead };
}

function isBefore(at: EpochMs, stretch: Stretch | null | undefined): boolean {
  return stretch != null && stretch.from < at;
}

/** Windows and freezes are known for longer than the picture lasts. */
function within(night: RolloutNight, { from, to }: TimeAxis): RolloutNight {
  return { ...night, bands: night.bands.filter((band) => band.from < to && (band.to ?? to) > from) };
}

function labelOf({ from, to, zone }: TimeAxis, showAt: View['showAt']): string {
  return `Waves from ${showAt(from)} to ${showAt(to)} (${zone}). The list below has the same in words.`;
}

function bandsBehind(
  night: RolloutNight,
  { axis, x, showAt, now }: View & Pick<NightParts, 'now'>,
): readonly ChartElement[] {
  const height = night.lanes.length * laneHeight;
  // Holds are in front of closed windows.
  const bands = night.bands.toSorted((a, b) => Number(isClosed(b)) - Number(isClosed(a)));
  return bands.map((band) => {
    // Only the calendar is known beyond the present.
    const until = night.to ?? (isClosed(band) ? axis.to : now);
    return box(`band ${band.kind}`, {
      ...{ y: numbersHeight, height, title: nightBandText(band, showAt) },
      ...edges(band.from, band.to ?? until, x),
    });
  });
}

interface LaneParts {
  readonly index: number;
  readonly now: EpochMs;
  readonly ahead: Stretch | undefined;
}

/** What is still to come of a wave: the rest of its soak, else what is expected. */
function aheadOf({ wave, spans }: Lane, { waves = [], now }: NightParts): Stretch | undefined {
  const dueAt = spans.find(({ to }) => to === null)?.dueAt ?? null;
  const expected = waves.find(({ name }) => name === wave)?.expected ?? null;
  const { from, to } = dueAt === null ? (expected ?? { from: now, to: now }) : { from: now, to: dueAt };
  const rest = { from: Math.max(now, from), to };
  return rest.from < rest.to ? rest : undefined;
}

function laneOf(
  night: RolloutNight,
  lane: Lane,
  { index, now, ahead, x, showAt }: View & LaneParts,
): readonly ChartElement[] {
  const top = numbersHeight + index * laneHeight;
  const until = night.to ?? now;
  const bar = { y: top + barTop, height: barHeight };
  const bars = lane.spans.map((span) =>
    box(`stretch ${toneOf(span, lane, night)}`, {
      ...{ ...bar, title: nightSpanText(lane.wave, span, showAt) },
      ...edges(span.from, span.to ?? until, x),
    }),
  );
  if (ahead !== undefined) {
    const title = nightAheadText(lane.wave, ahead, showAt);
    bars.push(box('stretch ahead', { ...bar, title, ...edges(ahead.from, ahead.to, x) }));
  }
  const name = { x: '2%', y: top + 14 };
  const stage = lane.spans.length === 0 && night.to === null ? '' : waveStageText(lane.state, night.to);
  const details = [stage, ...readingsOf(night, lane)].filter((words) => words !== '').join(' · ');
  return [
    chartElement('line', {
      class: 'ground',
      x1: '0%',
      x2: '100%',
      y1: top + laneHeight,
      y2: top + laneHeight,
    }),
    ...bars,
    ...(['narrow', 'wide'] as const).map((form) =>
      chartElement(
        'text',
        { class: `in-${form}`, ...name },
        chartElement('tspan', { class: 'lane-name' }, shortened(lane.wave, form)),
        chartElement('tspan', { class: 'lane-details', dx: '0.6em' }, shortened(details, form)),
      ),
    ),
  ];
}

/** SVG does not cut a text by itself. */
const lettersMax = { narrow: 22, wide: 44 } as const;

function shortened(text: string, form: keyof typeof lettersMax): string {
  const most = lettersMax[form];
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** The last result of each gate of a wave. */
function readingsOf({ marks }: RolloutNight, { wave }: Lane): readonly string[] {
  const last = new Map(
    marks.flatMap((mark) => (mark.kind === 'gate' && mark.wave === wave ? [[mark.gate, mark]] : [])),
  );
  return [...last.values()].map(gateReadingText);
}

type Bar = 'good' | 'busy' | 'rest' | 'soak' | 'gates' | 'approval' | 'back';

function toneOf({ kind }: Span, { state }: Lane, night: RolloutNight): Bar {
  if (kind !== 'upgrade') return kind;
  if (state === 'passed') return 'good';
  return night.to === null ? 'busy' : 'rest';
}

/** Numbers of the list, with a thin line from each group through all lanes. */
function numbers(entries: readonly NightEntry[], x: Position, lanes: number): readonly ChartElement[] {
  return (['narrow', 'wide'] as const).map((form) => {
    const linePx = linesPx[form];
    const groups = groupNumbers(entries, x, linePx).flatMap(({ at, text, title, tone, left, width }) => {
      const percent = x(at);
      const offset = Math.round(left - (percent / 100) * linePx);
      return [
        line('leader', percent, { lanes }),
        chartElement(
          'svg',
          { class: `number ${tone}`, x: `${percent}%`, y: 2, width, height: 20, overflow: 'visible' },
          chartElement('title', {}, title),
          chartElement('rect', { x: offset + 0.5, y: 0.5, width: width - 1, height: 18, rx: 9 }),
          chartElement('text', { x: offset + width / 2, y: 14, 'text-anchor': 'middle' }, text),
        ),
      ];
    });
    return chartElement('g', { class: `in-${form}` }, ...groups);
  });
}

function line(
  kind: string,
  left: number,
  { lanes, title }: { readonly lanes: number; readonly title?: string },
): ChartElement {
  const bottom = numbersHeight + lanes * laneHeight;
  const at = `${left}%`;
  return chartElement(
    'line',
    { class: kind, x1: at, x2: at, y1: numbersHeight - 4, y2: bottom },
    ...(title === undefined ? [] : [chartElement('title', {}, title)]),
  );
}

function endMark(
  end: ExpectedEnd | null,
  { lanes, x, title }: { readonly lanes: number; readonly x: Position; readonly title: string },
): readonly ChartElement[] {
  if (end === null) return [];
  const place = { y: numbersHeight, height: lanes * laneHeight, ...edges(end.from, end.to, x) };
  return [box('eta', { ...place, title })];
}

// A stretch of seconds in a night of hours is still seen.
const widthMin = 0.5;

function edges(from: EpochMs, to: EpochMs, x: Position) {
  const left = x(from);
  return { x: `${left}%`, width: `${Math.max(widthMin, Math.round((x(to) - left) * 10) / 10)}%` };
}

interface Box {
  readonly x: string;
  readonly width: string;
  readonly y: number;
  readonly height: number;
  readonly title: string;
}

function box(kind: string, { title, ...place }: Box): ChartElement {
  return chartElement('rect', { class: kind, ...place }, chartElement('title', {}, title));
}

const spanNames: ReadonlyArray<readonly [Bar, string]> = [
  ['good', 'passed'],
  ['busy', 'open'],
  ['rest', 'ended'],
  ['soak', 'soak'],
  ['gates', 'waits for its gate'],
  ['approval', 'waits for approval'],
  ['back', 'goes back'],
];

const bandNames: Readonly<Record<RolloutNight['bands'][number]['kind'], string>> = {
  ...{ hold: 'held', buildHold: 'build held', pause: 'paused', inventory: 'inventory implausible' },
  ...{ window: 'no window open', freeze: 'freeze', approval: 'waits for approval' },
};

/** Only what the picture shows. */
function legendOf(
  night: RolloutNight,
  nowText: string,
  expected: { readonly end: ExpectedEnd | null; readonly ahead: boolean },
): readonly LegendEntry[] {
  const shown = new Set(night.lanes.flatMap((lane) => lane.spans.map((span) => toneOf(span, lane, night))));
  const behind = new Set(night.bands.map(({ kind }) => kind));
  // A wave that waits for its approval has the same colour as the plan.
  if (shown.has('approval')) behind.delete('approval');
  return [
    ...spanNames.filter(([tone]) => shown.has(tone)).map(([tone, name]) => ({ tone, name })),
    ...[...behind].map((kind) => ({ tone: `band ${kind}`, name: bandNames[kind] })),
    ...(night.to === null ? [{ tone: 'present', name: nowText }] : []),
    ...(expected.ahead ? [{ tone: 'ahead', name: 'expected' }] : []),
    ...(expected.end === null ? [] : [{ tone: 'eta', name: 'expected end' }]),
  ];
}

const openMax = 20;

function listOf(texts: readonly string[], { list, zone }: NightParts): ChartElement {
  const items = texts.map((text) => chartElement('li', {}, text));
  return chartElement(
    'details',
    { class: 'small', ...(list === 'open' && texts.length <= openMax && { open: 'open' }) },
    chartElement('summary', {}, `The same in words (times in ${zone})`),
    chartElement('ol', {}, ...items),
  );
}
