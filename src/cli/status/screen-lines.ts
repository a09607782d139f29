import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import { stateText } from '../../rollout/messages/sentences.ts';
import { fitLines } from '../rollouts/fit-lines.ts';
import { renderOverview } from '../rollouts/render-overview.ts';
import { renderStatus } from '../rollouts/render-status.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { openOne, type ScreenState } from './screen-state.ts';

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

type Paint = Pick<ConsoleOutput, 'paint'>;

// At least this many collectors stay visible below a long status.
const collectorsMin = 4;

/** All lines of the screen. The last line has the keys and the age of the data. */
export function screenLines(
  state: ScreenState,
  now: EpochMs,
  { columns, rows }: ScreenSize,
  { paint }: Paint,
): readonly string[] {
  const room = Math.max(4, rows - 2);
  const body = bodyLines(state, now, { columns, rows: room }, { paint }).slice(0, room);
  const blank = Array.from({ length: Math.max(0, room - body.length) }, () => '');
  return [...body, ...blank, ...footLines(state, now, columns, { paint })];
}

function bodyLines(
  state: ScreenState,
  now: EpochMs,
  { columns, rows }: ScreenSize,
  { paint }: Paint,
): readonly string[] {
  const { story, seenAt } = state;
  if (story !== undefined)
    return story.lines.flatMap((line) => wrapLine(line, columns)).slice(story.from, story.from + rows);
  const status = openOne(state);
  if (status !== undefined) {
    const glance = renderStatus(status, now, { paint, columns }).split('\n');
    const kept = cutMiddle(glance, rows - collectorsMin - 1);
    return [...kept, '', ...collectorLines(state, rows - kept.length - 1, { paint })];
  }
  if (state.rows.length === 0) return [seenAt === undefined ? 'waiting for the daemon' : 'no rollout yet'];
  const lines = renderOverview(state.rows, now, { paint, columns: columns - 2 });
  const from = Math.max(0, state.cursor - rows + 1);
  const marked = lines.map(
    (line, index) => `${index === state.cursor ? paint('inverse', '>') : ' '} ${line}`,
  );
  return [...marked.slice(from, from + rows), '', ...state.notes];
}

/** Wraps a line below its own beginning. */
function wrapLine(text: string, columns: number): readonly string[] {
  const words = text.trimStart();
  const labelColumns = text.length - words.length + 1;
  return fitLines('', [words], { width: columns, labelColumns });
}

/** Cuts lines that do not fit. The last line stays, because it names the legal commands. */
function cutMiddle(lines: readonly string[], max: number): readonly string[] {
  if (lines.length <= max) return lines;
  return [...lines.slice(0, Math.max(1, max - 2)), '        …', ...lines.slice(-1)];
}

function collectorLines(state: ScreenState, rows: number, { paint }: Paint): readonly string[] {
  const { collectors, cursor, words } = state;
  const title = words === '' ? 'failed, else in flight' : `with "${toPrintable(words)}"`;
  const head = paint('dim', `collectors ${title}${collectors.length === 0 ? ': none' : ''}`);
  const room = Math.max(0, rows - 1);
  const from = Math.max(0, cursor - room + 1);
  const width = Math.max(0, ...collectors.map(({ collectorName }) => toPrintable(collectorName).length));
  const lines = collectors.map(({ collectorName, state: at, wave, reason, failureClass }, index) => {
    const name = toPrintable(collectorName).padEnd(Math.min(32, width));
    const words = `${stateText(at).padEnd(10)}  ${wave}  ${toPrintable(reason ?? '')}`.trimEnd();
    const mark = index === cursor ? paint('inverse', '>') : ' ';
    return `${mark} ${name}  ${failureClass === null ? words : paint('red', words)}`;
  });
  return [head, ...lines.slice(from, from + room)];
}

function footLines(state: ScreenState, now: EpochMs, columns: number, { paint }: Paint): readonly string[] {
  const { typing, message, trouble, seenAt } = state;
  const status = openOne(state);
  const first =
    trouble !== undefined
      ? paint('yellow', toPrintable(trouble))
      : message === undefined
        ? ''
        : toPrintable(message);
  if (typing !== undefined) {
    const what = typing.what === 'search' ? 'search' : `pause ${toPrintable(status?.id ?? '')}, reason`;
    return [first, `${paint('bold', `${what}:`)} ${toPrintable(typing.text)}█  enter, or esc`];
  }
  const keys =
    state.story !== undefined
      ? 'up/down scroll   esc back   q quit'
      : status === undefined
        ? 'up/down   enter open   / search   p pause   q quit'
        : `up/down   enter story   / search   p pause${state.rows.length > 1 ? '   esc back' : ''}   q quit`;
  const age = seenAt === undefined ? '' : `updated ${Math.max(0, Math.round((now - seenAt) / 1_000))} s ago`;
  const gap = ' '.repeat(Math.max(2, columns - keys.length - age.length - 1));
  return [first, paint('dim', `${keys}${gap}${age}`)];
}
