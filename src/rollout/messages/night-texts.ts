import { type DurationMs, type EpochMs, formatDuration } from '../../base/time.ts';
import type { RolloutNight } from '../../contract/admin/night.ts';
import { writeExpectation, writeGateValue } from './gates.ts';
import { makeText, starterText, stateText } from './sentences.ts';

type Band = RolloutNight['bands'][number];
type Mark = RolloutNight['marks'][number];
type GateMark = Extract<Mark, { kind: 'gate' }>;
type EventMark = Extract<Mark, { kind: 'event' }>;
type Span = RolloutNight['lanes'][number]['spans'][number];
type ShowAt = (at: EpochMs) => string;

/** What a wave does in a stretch of time: `21:20 to 21:35: wave canary soaks`. */
export function nightSpanText(wave: string, span: Span, showAt: ShowAt): string {
  return `${stretchText(span, showAt)}: ${nightSpanCause(wave, span)}${dueText(span, showAt)}`;
}

/** The same without the time: `wave canary soaks`. */
export function nightSpanCause(wave: string, span: Span): string {
  return `wave ${wave} ${spanText(span)}`;
}

/** What is expected of a wave: `22:10 to 23:40: wave rest, expected`. */
export function nightAheadText(
  wave: string,
  stretch: { readonly from: EpochMs; readonly to: EpochMs },
  showAt: ShowAt,
): string {
  return `${stretchText(stretch, showAt)}: wave ${wave}, expected`;
}

/** A wait before the first upgrade, which a picture shows cut off. */
export interface NightWait {
  readonly from: EpochMs;
  /** Null: it lasts. */
  readonly to: EpochMs | null;
  readonly lastsMs: DurationMs;
  readonly isForApproval: boolean;
  /** Who approved; null: nobody yet. */
  readonly by: string | null;
}

/** `16:09 to 21:21: waited 5h12m for an approval by alice`. */
export function nightWaitText({ lastsMs, isForApproval, by, ...stretch }: NightWait, showAt: ShowAt): string {
  const what = isForApproval
    ? `for an approval${by === null ? '' : whoText(by)}`
    : 'before its first upgrade';
  const waits = stretch.to === null ? 'has waited' : 'waited';
  return `${stretchText(stretch, showAt)}: ${waits} ${formatDuration(lastsMs)} ${what}`;
}

/** A wait that lasts or is to come, which a picture shows cut off. */
export interface NightWaitAhead {
  readonly axisTo: EpochMs;
  /** Null: its end is not known. */
  readonly to: EpochMs | null;
  readonly why: string;
}

export const deferredText = 'only deferred collectors remain';

/** `Cut off at 21:37: freeze: audit, until Mar 3 14:30`. */
export function nightCutText({ axisTo, to, why }: NightWaitAhead, showAt: ShowAt): string {
  return `Cut off at ${showAt(axisTo)}: ${why}${to === null ? '' : `, until ${showAt(to)}`}`;
}

const spanText = makeText<Span>({
  upgrade: () => 'is upgraded',
  soak: () => 'soaks',
  gates: () => 'waits for its gate',
  approval: () => 'waits for approval',
  back: () => 'is rolled back',
});

/** Why nothing started in a stretch of time. */
export function nightBandText(band: Band, showAt: ShowAt): string {
  return `${stretchText(band, showAt)}: ${nightBandCause(band)}`;
}

/** The same without the time. */
export const nightBandCause = makeText<Band>({
  hold: ({ by, reason }) => `held${whoText(by)}${becauseText(reason)}`,
  buildHold: ({ by, reason }) => `the build is held${whoText(by)}${becauseText(reason)}`,
  pause: ({ by, reason }) => `paused${whoText(by)}${becauseText(reason)}`,
  approval: () => 'the plan waits for approval',
  inventory: ({ reason }) => reason,
  window: () => 'no window is open',
  freeze: ({ reason }) => `freeze${becauseText(reason)}`,
});

/** What happened at an instant. */
export function nightMarkText(mark: Mark, showAt: ShowAt): string {
  const words = mark.kind === 'gate' ? `wave ${mark.wave}: ${gateReadingText(mark)}` : eventText(mark);
  return `${showAt(mark.at)}: ${words}`;
}

/** A result of a gate, its value beside the limit: `errors 0.93, limit >= 0.99: missed`. */
export function gateReadingText({ gate, value, expect, verdict }: GateMark): string {
  const figures =
    expect === null
      ? ''
      : ` ${value === null ? 'no value' : writeGateValue(expect, value)}, limit ${writeExpectation(expect)}`;
  return `${gate}${figures}: ${verdict}`;
}

/** Events whose name alone does not tell what happened. */
const eventNames: Readonly<Record<string, string>> = {
  'rollout.planned': 'started',
  'rollout.approved': 'plan approved',
  'rollout.joined': 'late joiners',
  'rollout.drifted': 'the fleet changed, new plan',
  'rollout.policyChanged': 'config reloaded',
  'rollout.rollingBack': 'rollback begins',
  'rollout.tied': 'account recognized',
  'wave.soakSkipped': 'soak skipped',
};

function eventText(mark: EventMark): string {
  const { event, wave, by, reason } = mark;
  const inWave = wave === null || !event.startsWith('wave.') ? '' : ` (${wave})`;
  return `${whatText(mark)}${inWave}${whoText(by)}${becauseText(reason)}`;
}

function whatText({ event, subject }: EventMark): string {
  const [kind = '', verb = ''] = event.split('.');
  if (event === 'rollout.retried' && subject !== undefined) return `${subject} retried`;
  if (event === 'rollout.aborted' && subject !== undefined) return 'rollback aborted';
  return eventNames[event] ?? (kind === 'rollout' ? stateText(verb) : `${kind} ${stateText(verb)}`);
}

function whoText(by: string): string {
  return by === 'daemon' ? '' : ` by ${starterText(by)}`;
}

function becauseText(reason: string): string {
  return reason === '' ? '' : `: ${reason}`;
}

function stretchText({ from, to }: { readonly from: EpochMs; readonly to: EpochMs | null }, showAt: ShowAt) {
  return to === null ? `Since ${showAt(from)}` : `${showAt(from)} to ${showAt(to)}`;
}

function dueText({ to, dueAt }: Span, showAt: ShowAt): string {
  return to === null && dueAt !== null ? ` until ${showAt(dueAt)}` : '';
}
