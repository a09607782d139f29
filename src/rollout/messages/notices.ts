import { showCount } from '../../base/singular-or-plural.ts';
import { type EpochMs, formatDuration } from '../../base/time.ts';
import type { IncidentDetails, Notice, NoticeFigures } from '../model/notice.ts';
import { stayTexts } from './exclusions.ts';
import { counted, endText, sentence, starterText, stateText } from './sentences.ts';
import { sharedAttributeText } from './stop-causes.ts';
import { heldName } from './stratum-reasons.ts';

/** How urgent a message is: `bad` and `late` are for a person to check. The names are those of the page's colours. */
export type NoticeTone = 'bad' | 'late' | 'good' | 'busy';

/** The text of a notification. */
export interface NoticeText {
  readonly tone: NoticeTone;
  readonly title: string;
  /** Why it happened; empty if the title is sufficient. */
  readonly cause: string;
  readonly numbers: string;
  /** Where it goes, and the numbers one by one; null without a rollout. */
  readonly figures: NoticeFigureText | null;
  readonly causes: readonly string[];
  readonly commands: readonly string[];
}

export interface NoticeFigureText {
  /** `To build 19.536-4` */
  readonly where: string;
  readonly values: ReadonlyArray<{ readonly name: string; readonly value: string }>;
}

/** Writes a notice for people. */
export function noticeText(notice: Notice): NoticeText {
  const { policy, figures, commands } = notice;
  const subject = figures?.kind === 'rollback' ? `rollback of ${policy}` : policy;
  const { title, cause } =
    notice.phase === 'over'
      ? { title: `${overText(notice.details)}${endingText(notice)}`, cause: overCauseText(notice) }
      : titleAndCause(notice);
  const others = figures?.otherFailures ?? 0;
  return {
    tone: toneOf(notice),
    title: `${subject}: ${title}`,
    cause,
    numbers: figures === null ? '' : numbersText(figures),
    figures: figures === null ? null : figureTexts(figures),
    causes: [
      ...(figures?.shared === undefined ? [] : [sharedAttributeText(figures.shared)]),
      ...(figures?.causes.map(({ text, count }) => `${count} failed: ${text}`) ?? []),
      ...(others > 0 ? [`… ${others} more failed`] : []),
    ],
    commands,
  };
}

function toneOf(notice: Notice): NoticeTone {
  if (notice.phase === 'over')
    return notice.ending === undefined && notice.heldAs === undefined ? 'good' : 'late';
  const { details } = notice;
  switch (details.event) {
    case 'held':
    case 'noProgress':
    case 'discoveryFailing':
      return 'bad';
    case 'approvalNeeded':
    case 'stratumHeld':
      return 'late';
    case 'finished':
      if (details.state === 'succeeded') return 'good';
      return details.state === 'superseded' ? 'busy' : 'late';
    case 'wavePassed':
      return 'good';
    case 'started':
    case 'test':
      return 'busy';
    default:
      return details satisfies never;
  }
}

type OverNotice = Extract<Notice, { readonly phase: 'over' }>;

function endingText({ ending, heldAs, details }: OverNotice): string {
  if (ending !== undefined) return `, but ${stateText(ending.state)}`;
  if (heldAs === undefined) return '';
  const { label, by, remaining } = heldAs;
  if (details.event === 'stratumHeld' && details.label === label) return ` by the daemon, but by ${by}`;
  const which = remaining === 0 ? 'its collectors' : 'its failed collectors';
  return `: ${which} are held as ${heldName(label)}${by === 'daemon' ? '' : `, by ${by}`}`;
}

function overCauseText(notice: OverNotice): string {
  const why = notice.ending?.reason ?? notice.continues ?? '';
  const { remaining = 0 } = notice.heldAs ?? {};
  const others = counted(remaining, 'other collector', 'other collectors');
  return [
    why === '' ? '' : sentence(why),
    remaining === 0 ? '' : `${others} of it can start.`,
    firstMessageText(notice),
  ]
    .filter((text) => text !== '')
    .join(' ');
}

/** Names the message that opened the incident, because a chat shows the two apart. */
function firstMessageText(notice: OverNotice): string {
  const { raisedAt, details, at } = notice;
  if (raisedAt === undefined) return '';
  return `About "${titleAndCause({ at, details }).title}" of ${utcMinute(raisedAt)}.`;
}

/** `2026-11-22 01:37 UTC` */
function utcMinute(at: EpochMs): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function titleAndCause({
  at,
  details,
  figures,
}: Pick<Notice, 'at' | 'details'> & Partial<Pick<Notice, 'figures'>>): {
  readonly title: string;
  readonly cause: string;
} {
  switch (details.event) {
    case 'started':
      return {
        title: 'rollout started',
        cause: `Started by ${starterText(details.startedBy)}, in ${counted(details.waves, 'wave')}.`,
      };
    case 'wavePassed': {
      const next = details.next === null ? 'It was the last wave.' : `The next wave is ${details.next}.`;
      return { title: `wave ${details.wave} passed`, cause: next };
    }
    case 'approvalNeeded':
      return {
        title: 'approval needed',
        cause:
          details.wave === null ? 'The plan waits for approval.' : `Wave ${details.wave} waits for approval.`,
      };
    case 'held':
      return heldText(details);
    case 'stratumHeld': {
      const { label, reason, waiting, others } = details;
      if (others !== undefined)
        return {
          title: 'more strata held',
          cause: `${label}: ${reason}. No message follows for further held strata of this rollout.`,
        };
      return { title: `${heldName(label)} held`, cause: `${reason}. ${waitingText(waiting)}` };
    }
    case 'finished':
      return {
        title: endText(figures?.kind ?? 'upgrade', details.state, {
          leavesSome: details.left !== undefined,
        }),
        cause: finishedText(details),
      };
    case 'noProgress':
      return {
        title: 'no progress',
        cause: `No upgrade has ended and no wave has advanced for ${formatDuration(at - details.since)}, for no known reason.`,
      };
    case 'discoveryFailing': {
      const why = details.reason === '' ? '' : ` ${sentence(details.reason)}`;
      return {
        title: 'discovery of work fails',
        cause: `No scan succeeded for at least ${formatDuration(at - details.since)}.${why}`,
      };
    }
    case 'test':
      return { title: 'test message', cause: 'This receiver gets the messages of upwave.' };
    default:
      return details satisfies never;
  }
}

function heldText({ reason, headline }: Extract<IncidentDetails, { event: 'held' }>) {
  if (headline !== 'startNeeded') return { title: 'held', cause: reason };
  return { title: 'start needed', cause: `${sentence(reason)} Only an operator starts it again.` };
}

function waitingText(waiting: number): string {
  if (waiting === 0) return 'None of its collectors waits, so it needs nothing now.';
  return `${counted(waiting, 'collector waits', 'collectors wait')} until it is released.`;
}

function finishedText({
  reason,
  left: { build, by } = { build: '', by: [] },
  reports,
}: Extract<Notice['details'], { event: 'finished' }>): string {
  const report = reports === undefined ? [] : [`Report: ${reports.join(', ')}`];
  return [reason, ...stayTexts(build, by), ...report].filter((words) => words !== '').join('. ');
}

/** The title of the message that closes an incident. */
function overText(details: IncidentDetails): string {
  switch (details.event) {
    case 'approvalNeeded':
      return `${details.wave === null ? 'the plan' : `wave ${details.wave}`} no longer waits for approval`;
    case 'held':
      return details.headline === 'startNeeded' ? 'no longer waits for a start' : 'no longer held';
    case 'stratumHeld':
      return details.others === undefined
        ? `${heldName(details.label)} is no longer held`
        : 'no more than three strata are held';
    case 'noProgress':
      return 'progress again';
    case 'discoveryFailing':
      return 'discovery of work succeeds again';
    default:
      return details satisfies never;
  }
}

function numbersText(figures: NoticeFigures): string {
  const counts = countTexts(figures).map(({ name, value }) => `${value} ${name.toLowerCase()}`);
  return `${whereText(figures)}: ${counts.join(', ')}.`;
}

/** A rollback takes each collector back to its own build. */
function whereText({ kind, targetBuild }: Pick<NoticeFigures, 'kind' | 'targetBuild'>): string {
  return kind === 'rollback' ? 'Back to the builds before' : `To build ${targetBuild}`;
}

function figureTexts(figures: NoticeFigures): NoticeFigureText {
  return { where: whereText(figures), values: countTexts(figures) };
}

/** Together they are all planned collectors. */
function countTexts(figures: NoticeFigures): NoticeFigureText['values'] {
  const { planned, succeeded, failed, withdrawn = 0, rolledBack = 0, inFlight, remaining } = figures;
  return [
    { name: 'Succeeded', value: `${showCount(succeeded)} of ${showCount(planned)}` },
    { name: 'Failed', value: showCount(failed) },
    ...(withdrawn === 0 ? [] : [{ name: 'Withdrawn', value: showCount(withdrawn) }]),
    ...(rolledBack === 0 ? [] : [{ name: 'Rolled back', value: showCount(rolledBack) }]),
    { name: 'In flight', value: showCount(inFlight) },
    { name: 'To do', value: showCount(remaining) },
  ];
}
