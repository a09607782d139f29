import { toPrintable } from '../../base/safe-text.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { buildReleaseTexts, groupHoldTexts, releaseTexts } from '../../rollout/messages/consequences.ts';
import { counted, stateText } from '../../rollout/messages/sentences.ts';
import { heldName } from '../../rollout/messages/stratum-reasons.ts';
import { questionLines } from '../rollouts/confirm-verb.ts';
import type { Released } from '../rollouts/due-steps.ts';
import { fitLines, fitTexts } from '../rollouts/fit-lines.ts';
import { needLines, renderOverview } from '../rollouts/render-overview.ts';
import { renderStatus } from '../rollouts/render-status.ts';
import { startLines } from '../rollouts/start-command.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { fitEvents, type ScreenSize } from './fit-events.ts';
import { footLines, footRowsMin } from './foot-lines.ts';
import { isAsking, isEmpty, listedMax, openOne, rolloutAtCursor, type ScreenState } from './screen-state.ts';

type Paint = Pick<ConsoleOutput, 'paint'>;

// The lists of the status are cut before fewer collectors than this stay visible below it.
const collectorsMin = 4;

// Reasons and the open wave leave this many, among them the chosen one, because enter opens it.
const collectorsLeft = 3;

// On a screen of a few lines: the headline, its reason, and what to do.
const glanceMin = 4;

// From this height on, the policies stay on the screen above an open rollout.
const splitRowsMin = 30;
// At most this part of the screen is for the policies.
const policiesShare = 1 / 3;

/**
 * All lines of the screen. The last line has the keys and the age of the data.
 * @param now the age is as of now; all else is as of the last answer
 */
export function screenLines(
  state: ScreenState,
  now: EpochMs,
  { columns, rows }: ScreenSize,
  { paint }: Paint,
): readonly string[] {
  const foot = footLines(state, now, columns, { paint });
  const room = roomOf(rows, foot.length);
  const show = isSplit(state, rows) ? splitLines : bodyLines;
  // Durations are those of the last answer. A countdown from old data would look like progress.
  const body = show(state, state.seenAt ?? now, { columns, rows: room }, { paint }).slice(0, room);
  const blank = Array.from({ length: Math.max(0, room - body.length) }, () => '');
  return [...body, ...blank, ...foot];
}

/** Rows above the foot. */
function roomOf(rows: number, footRows = footRowsMin): number {
  return Math.max(4, rows - footRows);
}

/** Whether a rollout is shown below the policies. A small screen has room for that only while none is open. */
export function isSplit(state: ScreenState, rows: number): boolean {
  if (state.rows.length < 2 || isAsking(state.typing)) return false;
  const isShort = state.rows.length + state.notes.length <= Math.floor(roomOf(rows) * policiesShare);
  return rows >= splitRowsMin || (isShort && openOne(state) === undefined);
}

type Draw = (state: ScreenState, now: EpochMs, size: ScreenSize, paint: Paint) => readonly string[];

/** The story, the open rollout, or the policies. */
const bodyLines: Draw = (state, now, { columns, rows }, { paint }) => {
  const { story, seenAt, notes, typing, trouble } = state;
  if (typing?.what === 'verb') return questionLines(typing.status, typing.asked, now, columns);
  if (typing?.what === 'hold') {
    const question = `Hold the ${counted(typing.count, 'collector')} with ${typing.group}?`;
    return fitTexts([...groupHoldTexts, question], columns);
  }
  if (typing?.what === 'release') return releaseLines(typing.released, state, columns);
  if (typing?.what === 'start')
    return typing.preview === undefined ? ['reading the fleet …'] : startLines(typing.preview, now, columns);
  if (story !== undefined) return storyLines(story, { columns, rows });
  const status = openOne(state);
  if (status !== undefined) return openLines(state, status, now, { columns, rows }, { paint });
  if (isEmpty(state)) {
    const first = seenAt === undefined ? 'waiting for the daemon' : 'no rollout yet';
    return trouble === undefined
      ? [first]
      : [first, '', ...fitTexts([trouble], columns).map((line) => paint('yellow', line))];
  }
  return [...policyLines(state, now, { columns, rows }, { paint }), '', ...notes];
};

/** What the release would start, and the question whether it should. */
function releaseLines({ of, subjects }: Released, state: ScreenState, columns: number): readonly string[] {
  const rollouts = state.rows.flatMap(({ status }) => status ?? []);
  const textsOf = of === 'build' ? buildReleaseTexts : releaseTexts;
  const texts = subjects.flatMap((subject) => textsOf(subject, rollouts));
  const names = subjects.map((subject) => (of === 'build' ? `build ${subject}` : heldName(subject)));
  return fitTexts([...new Set(texts), `Release ${names.join(', ')}?`], columns);
}

/** The policies, and below them the open rollout, or that of the policy at the cursor. */
const splitLines: Draw = (state, now, { columns, rows }, { paint }) => {
  const { story, notes } = state;
  if (story !== undefined) return storyLines(story, { columns, rows });
  const listRows = Math.floor(rows * policiesShare);
  const policies = policyLines(state, now, { columns, rows: listRows }, { paint });
  const list = [...policies, ...notes.slice(0, Math.max(1, listRows - policies.length))];
  const rule = paint('dim', '─'.repeat(columns));
  const size = { columns, rows: rows - list.length - 1 };
  const open = openOne(state);
  const below =
    open !== undefined
      ? openLines(state, open, now, size, { paint })
      : atCursorLines(state, now, size, { paint });
  return [...list, rule, ...below];
};

// The title, and one event.
const eventRowsMin = 2;

/** The rollout of the policy at the cursor, and its last events where lines are free. */
const atCursorLines: Draw = (state, now, size, { paint }) => {
  const status = rolloutAtCursor(state);
  const { policy = '', needs } = state.rows[state.cursor] ?? {};
  if (needs !== undefined) return needLines(policy, needs, { paint, width: size.columns, labelColumns: 1 });
  if (status === undefined) return ['no rollout yet'];
  const glance = renderStatus(status, now, { paint, ...size }).split('\n');
  const own = state.events.filter(({ rollout }) => rollout === status.id);
  const room = size.rows - glance.length;
  if (own.length === 0 || room < eventRowsMin) return glance;
  const lines = fitEvents(own, now, { columns: size.columns, rows: room - 1 });
  const gap = lines.length < room - 1 ? [''] : [];
  return [...glance, ...gap, paint('dim', 'last events, times in UTC'), ...lines];
};

/** The lines of each policy, with a mark at the chosen one. */
const policyLines: Draw = (state, now, { columns, rows }, { paint }) => {
  const open = openOne(state);
  const at = open === undefined ? state.cursor : state.rows.findIndex(({ status }) => status?.id === open.id);
  const shown = renderOverview(state.rows, now, { paint, columns: columns - 2 });
  const from = Math.max(0, shown.slice(0, at + 1).flat().length - rows);
  return shown
    .flatMap((lines, index) =>
      lines.map((line, part) => `${index === at && part === 0 ? paint('inverse', '>') : ' '} ${line}`),
    )
    .slice(from, from + rows);
};

/**
 * A rollout with its collectors. Reasons take the lines of the collectors, lists do not. While a person searches the
 * collectors or walks through them, they have half of the screen.
 */
function openLines(
  state: ScreenState,
  status: RolloutStatus,
  now: EpochMs,
  { columns, rows }: ScreenSize,
  { paint }: Paint,
): readonly string[] {
  const isWalked = state.words !== '' || state.typing?.what === 'search' || state.cursor > 0;
  const wanted = isWalked ? Math.floor(rows / 2) : collectorsMin;
  const listed = Math.min(wanted, state.collectors?.length ?? 0);
  const room = rows - listed - 2;
  const most = Math.max(glanceMin, rows - Math.min(collectorsLeft, listed) - 2);
  const rowsMax = isWalked ? room : most;
  const style = { paint, columns, rows: room, rowsMax };
  const glance = renderStatus(status, now, style).split('\n');
  return [...glance, '', ...collectorLines(state, rows - glance.length - 1, { paint })];
}

function storyLines(
  { lines, from }: NonNullable<ScreenState['story']>,
  { columns, rows }: ScreenSize,
): readonly string[] {
  return lines.flatMap((line) => wrapLine(line, columns)).slice(from, from + rows);
}

/** Wraps a line below the text after its label, else below its own beginning. */
function wrapLine(text: string, columns: number): readonly string[] {
  const [, label = ''] = /^( *\S.*? {2,})\S/.exec(text) ?? [];
  if (label !== '' && label.length < columns / 2)
    return fitLines(label.trimEnd(), [text.slice(label.length)], {
      width: columns,
      labelColumns: label.length,
    });
  const words = text.trimStart();
  const labelColumns = text.length - words.length + 1;
  return fitLines('', [words], { width: columns, labelColumns });
}

function collectorLines(state: ScreenState, rows: number, { paint }: Paint): readonly string[] {
  const { collectors = [], cursor, words } = state;
  const title = words === '' ? 'failed, else to retry or in flight' : `with "${toPrintable(words)}"`;
  const count = collectors.length < listedMax ? collectors.length : `the first ${listedMax}`;
  const position = `: ${Math.min(cursor + 1, collectors.length)} of ${count}`;
  const found =
    state.collectors === undefined ? ': reading …' : collectors.length === 0 ? ': none' : position;
  const head = paint('dim', `collectors ${title}${found}`);
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
