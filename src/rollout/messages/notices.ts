import { showCount } from '../../base/singular-or-plural.ts';
import { formatDuration } from '../../base/time.ts';
import type { IncidentDetails, Notice, NoticeFigures } from '../model/notice.ts';
import { counted, starterText, stateText } from './sentences.ts';
import { sharedAttributeText } from './stop-causes.ts';

/** The text of a notification. */
export interface NoticeText {
  readonly title: string;
  /** Why it happened; empty if the title is sufficient. */
  readonly cause: string;
  readonly numbers: string;
  readonly causes: readonly string[];
  readonly commands: readonly string[];
}

/** Writes a notice for people. */
export function noticeText(notice: Notice): NoticeText {
  const { policy, figures, commands } = notice;
  const subject = figures?.kind === 'rollback' ? `rollback of ${policy}` : policy;
  const { title, cause } =
    notice.phase === 'over' ? { title: overText(notice.details), cause: '' } : titleAndCause(notice);
  const shared = figures?.shared === undefined ? '' : sharedAttributeText(figures.shared);
  return {
    title: `${subject}: ${title}`,
    cause,
    numbers: figures === null ? '' : numbersText(figures),
    causes: [
      // The reason of a hold may name the shared attribute already.
      ...(shared === '' || cause.includes(shared) ? [] : [shared]),
      ...(figures?.causes.map(({ text, count }) => `${count} failed: ${text}`) ?? []),
    ],
    commands,
  };
}

function titleAndCause({ at, details }: Notice): { readonly title: string; readonly cause: string } {
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
      return { title: 'held', cause: details.reason };
    case 'stratumHeld': {
      const { label, reason, waiting, others } = details;
      if (others !== undefined)
        return {
          title: 'more strata held',
          cause: `${label}: ${reason}. No message follows for further held strata of this rollout.`,
        };
      const words = `${counted(waiting, 'collector waits', 'collectors wait')} until the stratum is released.`;
      return { title: `stratum ${label} held`, cause: `${reason}. ${words}` };
    }
    case 'finished': {
      const report = details.reports === undefined ? [] : [`Report: ${details.reports.join(', ')}`];
      const cause = [details.reason, ...report].filter((words) => words !== '').join('. ');
      return { title: stateText(details.state), cause };
    }
    case 'noProgress':
      return {
        title: 'no progress',
        cause: `No upgrade has ended and no wave has advanced for ${formatDuration(at - details.since)}, for no known reason.`,
      };
    case 'discoveryFailing': {
      const why = details.reason === '' ? '' : ` ${details.reason}`;
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

/** The title of the message that closes an incident. */
function overText(details: IncidentDetails): string {
  switch (details.event) {
    case 'approvalNeeded':
      return `${details.wave === null ? 'the plan' : `wave ${details.wave}`} no longer waits for approval`;
    case 'held':
      return 'no longer held';
    case 'stratumHeld':
      return details.others === undefined
        ? `stratum ${details.label} is no longer held`
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
  const { targetBuild, planned, succeeded, failed, inFlight, remaining } = figures;
  return `To build ${targetBuild}: ${showCount(succeeded)} of ${showCount(planned)} succeeded, ${showCount(failed)} failed, ${showCount(inFlight)} in flight, ${showCount(remaining)} to do.`;
}
