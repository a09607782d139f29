import { toPrintable } from '../../base/safe-text.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { releasedMax } from '../../rollout/status/command-for.ts';
import type { RolloutVerb } from '../../rollout/verbs/judge-verb.ts';
import { type DueStep, dueSteps } from '../rollouts/due-steps.ts';
import { fitTexts } from '../rollouts/fit-lines.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { chosenRow, isAsking, isEmpty, openOne, rolloutAtCursor, type ScreenState } from './screen-state.ts';

/** Rows of the foot with a short result, or none. */
export const footRowsMin = 2;

// The list above keeps most of the screen.
const resultLinesMax = 4;

type Paint = Pick<ConsoleOutput, 'paint'>;

/** The result of the last key or an outage; below it the keys and the age of the data, or what is typed. */
export function footLines(
  state: ScreenState,
  now: EpochMs,
  columns: number,
  { paint }: Paint,
): readonly string[] {
  const { typing, seenAt } = state;
  const first = resultLines(state, now, columns, { paint });
  if (typing !== undefined) {
    const what = typedText(typing);
    return [
      ...first,
      `${paint('bold', `${toPrintable(what)}:`)} ${toPrintable(typing.text)}█  ${enterText(typing)}esc cancels`,
    ];
  }
  const age = seenAt === undefined ? '' : `updated ${Math.max(0, Math.round((now - seenAt) / 1_000))} s ago`;
  const room = columns - age.length - 1;
  const keys = fitKeys(keysOf(state), room - gapMin);
  return [...first, paint('dim', `${keys}${' '.repeat(Math.max(gapMin, room - keys.length))}${age}`)];
}

const gapMin = 2;

/** Keys that a narrow terminal leaves out, the first one first. `?` shows them all. */
const leftOutFirst: readonly string[] = ['/ search', 'up/down', 'esc back', 'enter story', 'enter open'];

/** Leaves out whole keys until the others fit. */
function fitKeys(keys: readonly string[], room: number): string {
  const all = keys.join('   ');
  const least = all.length <= room ? undefined : leftOutFirst.find((key) => keys.includes(key));
  return least === undefined
    ? all
    : fitKeys(
        keys.filter((key) => key !== least),
        room,
      );
}

// What was done is old after that.
const doneShownMs: DurationMs = 60_000;

/** An outage, else the result of the last key. A question is read in full, so it leaves them one line. */
function resultLines(state: ScreenState, now: EpochMs, columns: number, { paint }: Paint): readonly string[] {
  const { done, typing } = state;
  const isRecent = done !== undefined && now - done.at < doneShownMs;
  const message = state.message ?? (isRecent ? done.words : '');
  // The empty screen shows it above.
  const trouble = isEmpty(state) ? undefined : state.trouble;
  const linesMax = isAsking(typing) ? 1 : resultLinesMax;
  return fitTexts([trouble ?? message], columns, linesMax).map((line) =>
    trouble === undefined ? line : paint('yellow', line),
  );
}

/** The keys that do something now, the most useful ones. */
function keysOf(state: ScreenState): readonly string[] {
  if (state.story !== undefined) return ['up/down scroll', 'esc back', 'q quit'];
  if (isEmpty(state)) return ['? keys', 'q quit'];
  const status = openOne(state);
  const isStartDue = chosenRow(state)?.needs !== undefined;
  const due = isStartDue ? ['s start'] : dueKeys(status ?? rolloutAtCursor(state));
  const moves = status === undefined ? ['up/down', 'enter open', '/ search'] : ['enter story', '/ search'];
  const back = status !== undefined && state.rows.length > 1 ? ['esc back'] : [];
  return [...moves, ...due, ...back, '? keys', 'q quit'];
}

/** What enter does; empty where it does nothing. */
function enterText(typing: NonNullable<ScreenState['typing']>): string {
  if (typing.what === 'start' && typing.preview === undefined) return '';
  return isAsking(typing) ? 'enter confirms, ' : 'enter, ';
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
    case 'start':
      return `start ${typing.policy}${typing.preview === undefined ? '' : ', y or a reason'}`;
    default:
      return typing satisfies never;
  }
}

/** The key for what the line `do` shows first, and for its alternative, else for a pause. None: no key is legal. */
function dueKeys(status: RolloutStatus | undefined): readonly string[] {
  if (status === undefined) return [];
  const steps = dueSteps(status).filter(({ kind }, index) => index === 0 || kind === 'releaseFirst');
  const keys = steps.map(keyOf).filter((key) => key !== '');
  return keys.length === 0 && status.verbs.includes('pause') ? [verbKeys.pause] : keys;
}

/** Empty where only the command does it. */
const verbKeys: Readonly<Record<RolloutVerb, string>> = {
  ...{ pause: 'p pause', approve: 'a approve', resume: 'r resume' },
  ...{ skipSoak: '', abort: '', rollback: '', retry: '' },
};

/** The key for a step; empty where only a command does it. */
function keyOf(step: DueStep): string {
  switch (step.kind) {
    case 'hold':
      return 'h hold group';
    case 'release':
    case 'releaseFirst': {
      const { of, subjects } = step.released;
      return subjects.length > releasedMax ? '' : `l release ${of}`;
    }
    case 'verb':
      return verbKeys[step.verb];
    default:
      return step satisfies never;
  }
}
