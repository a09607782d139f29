import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { releasedMax } from '../../rollout/status/command-for.ts';
import { type DueStep, dueSteps } from '../rollouts/due-steps.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { isAsking, openOne, rolloutAtCursor, type ScreenState } from './screen-state.ts';

type Paint = Pick<ConsoleOutput, 'paint'>;

/** The result of the last key or an outage; below it the keys and the age of the data, or what is typed. */
export function footLines(
  state: ScreenState,
  now: EpochMs,
  columns: number,
  { paint }: Paint,
): readonly string[] {
  const { typing, message, trouble, seenAt } = state;
  const first =
    trouble !== undefined
      ? paint('yellow', toPrintable(trouble))
      : message === undefined
        ? ''
        : toPrintable(message);
  if (typing !== undefined) {
    const what = typedText(typing);
    return [
      first,
      `${paint('bold', `${toPrintable(what)}:`)} ${toPrintable(typing.text)}█  ${isAsking(typing) ? 'enter confirms' : 'enter'}, esc cancels`,
    ];
  }
  const keys = keysOf(state).join('   ');
  const age = seenAt === undefined ? '' : `updated ${Math.max(0, Math.round((now - seenAt) / 1_000))} s ago`;
  const gap = ' '.repeat(Math.max(2, columns - keys.length - age.length - 1));
  return [first, paint('dim', `${keys}${gap}${age}`)];
}

/** The keys that do something now, the most useful ones. */
function keysOf(state: ScreenState): readonly string[] {
  if (state.story !== undefined) return ['up/down scroll', 'esc back', 'q quit'];
  const status = openOne(state);
  const due = dueKey(status ?? rolloutAtCursor(state));
  const moves = status === undefined ? ['up/down', 'enter open', '/ search'] : ['enter story', '/ search'];
  const back = status !== undefined && state.rows.length > 1 ? ['esc back'] : [];
  return [...moves, ...(due === '' ? [] : [due]), ...back, '? keys', 'q quit'];
}

function typedText(typing: NonNullable<ScreenState['typing']>): string {
  switch (typing.what) {
    case 'search':
      return 'search';
    case 'verb':
      return `${typing.asked.verb} ${typing.status.id}, reason`;
    case 'hold':
      return `hold ${typing.group}, reason`;
    case 'release': {
      const { of, subjects } = typing.released;
      const [only = ''] = subjects;
      const what =
        of === 'build' ? `build ${only}` : subjects.length === 1 ? only : `${subjects.length} strata`;
      return `release ${what}, reason`;
    }
    default:
      return typing satisfies never;
  }
}

/** The key for what the line `do` shows first, else for a pause; empty where no key is legal. */
function dueKey(status: RolloutStatus | undefined): string {
  if (status === undefined) return '';
  const [first] = dueSteps(status);
  const key = first === undefined ? '' : keyOf(first);
  return key === '' && status.verbs.includes('pause') ? verbKeys.pause : key;
}

const verbKeys = { pause: 'p pause', approve: 'a approve', resume: 'r resume' } as const;

/** The key for a step; empty where only a command does it. */
function keyOf(step: DueStep): string {
  switch (step.kind) {
    case 'hold':
      return 'h hold group';
    case 'release': {
      const { of, subjects } = step.released;
      return subjects.length > releasedMax ? '' : `l release ${of}`;
    }
    case 'verb':
      return { ...noKeys, ...verbKeys }[step.verb];
    default:
      return step satisfies never;
  }
}

const noKeys = { skipSoak: '', abort: '', rollback: '', retry: '' } as const;
