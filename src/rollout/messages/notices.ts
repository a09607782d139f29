import { formatDuration } from '../../base/time.ts';
import type { IncidentNews, Notice, NoticeFigures } from '../model/notice.ts';
import { counted, starterWords, stateWords } from './sentences.ts';
import { sharedAttributeWords } from './stop-causes.ts';

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
export function noticeWords(notice: Notice): NoticeText {
  const { policy, figures, commands } = notice;
  const subject = figures?.kind === 'rollback' ? `rollback of ${policy}` : policy;
  const { title, cause } =
    notice.phase === 'over' ? { title: overWords(notice.news), cause: '' } : wordsOf(notice);
  const shared = figures?.shared === undefined ? '' : sharedAttributeWords(figures.shared);
  return {
    title: `${subject}: ${title}`,
    cause,
    numbers: figures === null ? '' : numbersWords(figures),
    causes: [
      // The reason of a hold may name the shared attribute already.
      ...(shared === '' || cause.includes(shared) ? [] : [shared]),
      ...(figures?.causes.map(({ text, count }) => `${count} failed: ${text}`) ?? []),
    ],
    commands,
  };
}

function wordsOf({ at, news }: Notice): { readonly title: string; readonly cause: string } {
  switch (news.event) {
    case 'started':
      return {
        title: 'rollout started',
        cause: `Started by ${starterWords(news.startedBy)}, in ${counted(news.waves, 'wave')}.`,
      };
    case 'wavePassed': {
      const next = news.next === null ? 'It was the last wave.' : `The next wave is ${news.next}.`;
      return { title: `wave ${news.wave} passed`, cause: next };
    }
    case 'approvalNeeded':
      return {
        title: 'approval needed',
        cause: news.wave === null ? 'The plan waits for approval.' : `Wave ${news.wave} waits for approval.`,
      };
    case 'held':
      return { title: 'held', cause: news.reason };
    case 'stratumHeld': {
      const { label, reason, waiting, others } = news;
      if (others !== undefined)
        return {
          title: 'more strata held',
          cause: `${label}: ${reason}. No message follows for further held strata of this rollout.`,
        };
      const wait = waiting === 1 ? 'waits' : 'wait';
      const words = `${counted(waiting, 'collector')} ${wait} until the stratum is released.`;
      return { title: `stratum ${label} held`, cause: `${reason}. ${words}` };
    }
    case 'finished': {
      const report = news.reports === undefined ? [] : [`Report: ${news.reports.join(', ')}`];
      const cause = [news.reason, ...report].filter((words) => words !== '').join('. ');
      return { title: stateWords(news.state), cause };
    }
    case 'noProgress':
      return {
        title: 'no progress',
        cause: `No upgrade has ended and no wave has advanced for ${formatDuration(at - news.since)}, for no known reason.`,
      };
    case 'discoveryFailing': {
      const why = news.reason === '' ? '' : ` ${news.reason}`;
      return {
        title: 'discovery of work fails',
        cause: `No scan succeeded for at least ${formatDuration(at - news.since)}.${why}`,
      };
    }
    case 'test':
      return { title: 'test message', cause: 'This receiver gets the messages of upwave.' };
    default:
      return news satisfies never;
  }
}

/** The title of the message that closes an incident. */
function overWords(news: IncidentNews): string {
  switch (news.event) {
    case 'approvalNeeded':
      return `${news.wave === null ? 'the plan' : `wave ${news.wave}`} no longer waits for approval`;
    case 'held':
      return 'no longer held';
    case 'stratumHeld':
      return news.others === undefined
        ? `stratum ${news.label} is no longer held`
        : 'no more than three strata are held';
    case 'noProgress':
      return 'progress again';
    case 'discoveryFailing':
      return 'discovery of work succeeds again';
    default:
      return news satisfies never;
  }
}

function numbersWords(figures: NoticeFigures): string {
  const { targetBuild, planned, succeeded, failed, inFlight, remaining } = figures;
  return `To build ${targetBuild}: ${succeeded} of ${planned} succeeded, ${failed} failed, ${inFlight} in flight, ${remaining} to do.`;
}
