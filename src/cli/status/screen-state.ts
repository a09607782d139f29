import { assertNever } from '../../base/assert.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RolloutEventBody } from '../../contract/admin/rollout-event.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { CollectorPage } from '../../contract/admin/rollouts.ts';
import { groupToHold } from '../../rollout/decision/group-to-hold.ts';
import { stateText } from '../../rollout/messages/sentences.ts';
import { formatAttributes } from '../../rollout/model/attributes.ts';
import { askedNow } from '../../rollout/status/legal-verbs.ts';
import type { AskedVerb, RolloutVerb } from '../../rollout/verbs/judge-verb.ts';
import { nothingText } from '../rollouts/confirm-verb.ts';
import type { PolicyRow } from '../rollouts/render-overview.ts';

/** The most collectors that are listed: more than a screen has rows. A search finds the others. */
export const listedMax = 100;

/** The content of the screen, and the position in it. */
export interface ScreenState {
  readonly rows: readonly PolicyRow[];
  /** Lines below the policies: failed scans, config. */
  readonly notes: readonly string[];
  readonly seenAt: EpochMs | undefined;
  /** Why there is no update; undefined while updates arrive. */
  readonly trouble: string | undefined;
  /** The open rollout; undefined: the list of policies. */
  readonly openId: string | undefined;
  readonly cursor: number;
  /** Words that collectors of the open rollout have to match; none: those that failed, else those in flight. */
  readonly words: string;
  /** Undefined until they are read. */
  readonly collectors: CollectorPage['collectors'] | undefined;
  /** The last events of the rollout at the cursor, newest first. Those of another rollout are not shown. */
  readonly events: readonly RolloutEventBody[];
  readonly story: { readonly lines: readonly string[]; readonly from: number } | undefined;
  /** `before`: the words of the search that escape brings back. */
  readonly typing:
    | { readonly what: 'search'; readonly text: string; readonly before: string }
    /** A verb with the target that was shown; the text is its reason. */
    | {
        readonly what: 'verb';
        readonly text: string;
        readonly asked: AskedVerb;
        readonly status: RolloutStatus;
      }
    /** The hold of the group that was shown to explain the failures; the text is its reason. */
    | {
        readonly what: 'hold';
        readonly text: string;
        readonly group: string;
        readonly count: number;
      }
    | undefined;
  /** The result of the last key. */
  readonly message: string | undefined;
}

export type Key =
  | { readonly kind: 'up' | 'down' | 'enter' | 'back' | 'erase' }
  | { readonly kind: 'text'; readonly text: string };

/** The call to the daemon that a key causes. */
export type Wish =
  | { readonly kind: 'quit' }
  | { readonly kind: 'list'; readonly status: RolloutStatus; readonly words: string }
  | { readonly kind: 'explain'; readonly collectorId: number }
  | {
      readonly kind: 'verb';
      readonly status: RolloutStatus;
      readonly asked: AskedVerb;
      readonly reason: string;
    }
  | { readonly kind: 'hold'; readonly group: string; readonly reason: string };

export interface Pressed {
  readonly state: ScreenState;
  readonly wish?: Wish;
}

export const emptyScreen: ScreenState = {
  rows: [],
  notes: [],
  seenAt: undefined,
  trouble: undefined,
  openId: undefined,
  cursor: 0,
  words: '',
  collectors: undefined,
  events: [],
  story: undefined,
  typing: undefined,
  message: undefined,
};

/** The open rollout: the chosen one, or the only one. */
export function openOne({ rows, openId }: Pick<ScreenState, 'rows' | 'openId'>): RolloutStatus | undefined {
  if (openId === undefined) return rows.length === 1 ? rows[0]?.status : undefined;
  return rows.find(({ status }) => status?.id === openId)?.status;
}

/** The rollout of the policy at the cursor, in the list of policies. */
export function rolloutAtCursor(state: ScreenState): RolloutStatus | undefined {
  return openOne(state) === undefined ? state.rows[state.cursor]?.status : undefined;
}

/** Applies a new reading. The open collector and the typed text stay; the cursor follows its rollout. */
export function withReading(
  state: ScreenState,
  reading: Pick<ScreenState, 'rows' | 'notes'> & { readonly seenAt: EpochMs },
): ScreenState {
  return { ...state, ...reading, cursor: cursorIn(state, reading.rows), trouble: undefined };
}

/** Where the cursor is in these rows. Rows change places, and a key must not act on another rollout than the marked one. */
function cursorIn(state: ScreenState, rows: ScreenState['rows']): number {
  if (openOne({ ...state, rows }) !== undefined) return state.cursor;
  const open = openOne(state);
  const marked = open === undefined ? state.rows[state.cursor] : { policy: open.policy, status: open };
  if (marked === undefined) return state.cursor;
  const id = marked.status?.id;
  const at = rows.findIndex(({ status }) => id !== undefined && status?.id === id);
  if (at >= 0) return at;
  return Math.max(
    0,
    rows.findIndex(({ policy }) => policy === marked.policy),
  );
}

/** Applies a key. */
export function pressKey(state: ScreenState, key: Key): Pressed {
  if (state.typing !== undefined) return typeKey(state, state.typing, key);
  switch (key.kind) {
    case 'up':
      return { state: move(state, -1) };
    case 'down':
      return { state: move(state, 1) };
    case 'enter':
      return enter(state);
    case 'back':
      return back(state);
    case 'erase':
      return { state };
    case 'text':
      return command(state, key.text);
    default:
      return assertNever(key);
  }
}

function move(state: ScreenState, by: number): ScreenState {
  const { story } = state;
  if (story !== undefined) {
    const from = Math.min(Math.max(0, story.lines.length - 1), Math.max(0, story.from + by));
    return { ...state, story: { ...story, from } };
  }
  const count = openOne(state) === undefined ? state.rows.length : (state.collectors?.length ?? 0);
  return { ...state, cursor: Math.max(0, Math.min(count - 1, state.cursor + by)) };
}

function enter(state: ScreenState): Pressed {
  if (state.story !== undefined) return { state };
  if (openOne(state) === undefined) {
    const status = state.rows[state.cursor]?.status;
    if (status === undefined) return { state };
    const opened = {
      ...state,
      openId: status.id,
      cursor: 0,
      words: '',
      collectors: undefined,
      message: undefined,
    };
    return { state: opened, wish: { kind: 'list', status, words: '' } };
  }
  const collectorId = state.collectors?.[state.cursor]?.collectorId;
  if (collectorId === undefined) return { state };
  return { state: { ...state, message: 'asking …' }, wish: { kind: 'explain', collectorId } };
}

function back(state: ScreenState): Pressed {
  if (state.story !== undefined) return { state: { ...state, story: undefined } };
  const status = openOne(state);
  if (status !== undefined && state.words !== '')
    return { state: { ...state, words: '', cursor: 0 }, wish: { kind: 'list', status, words: '' } };
  return { state: { ...state, openId: undefined, cursor: 0, collectors: undefined, message: undefined } };
}

function command(state: ScreenState, text: string): Pressed {
  const status = openOne(state) ?? rolloutAtCursor(state);
  switch (text) {
    case 'q':
      return { state, wish: { kind: 'quit' } };
    case 'k':
      return { state: move(state, -1) };
    case 'j':
      return { state: move(state, 1) };
    case '/': {
      if (status === undefined) return { state };
      const typing = { what: 'search', text: state.words, before: state.words } as const;
      return { state: { ...state, openId: status.id, story: undefined, typing, message: undefined } };
    }
    case 'p':
      return askVerb(state, status, 'pause');
    case 'a':
      return askVerb(state, status, 'approve');
    case 'r':
      return askVerb(state, status, 'resume');
    case 'h':
      return askHold(state, status);
    case '?':
      if (state.story?.lines === keyLines) return { state: { ...state, story: undefined } };
      return { state: { ...state, story: { lines: keyLines, from: 0 }, message: undefined } };
    default:
      return { state };
  }
}

/** Asks for the reason of a verb. Only enter acts then. */
function askVerb(state: ScreenState, status: RolloutStatus | undefined, verb: RolloutVerb): Pressed {
  if (status === undefined) return { state };
  const asked = status.verbs.includes(verb) ? askedNow(status, verb) : undefined;
  if (asked === undefined) return { state: { ...state, message: nothingText(status, verb) } };
  const typing = { what: 'verb', text: '', asked, status } as const;
  return { state: { ...state, openId: status.id, typing, message: undefined } };
}

/** Asks for the reason to hold the group that explains the failures. Only enter acts then. */
function askHold(state: ScreenState, status: RolloutStatus | undefined): Pressed {
  if (status === undefined) return { state };
  const group = groupToHold(status);
  const { sharedAttribute: shared, planned } = status;
  if (group === undefined || shared === null)
    return { state: { ...state, message: nothingToHoldText(status) } };
  const count = Math.round(shared.share * planned);
  const typing = { what: 'hold', text: '', group, count } as const;
  return { state: { ...state, openId: status.id, typing, message: undefined } };
}

/** Why there is no group to hold. */
function nothingToHoldText({ id, state, endedAt, sharedAttribute: shared, strata }: RolloutStatus): string {
  if (endedAt !== null) return `${id} is ${stateText(state)}`;
  const group = shared === null ? undefined : formatAttributes(shared.attributes);
  if (strata.held.some(({ label }) => label === group)) return `group ${group} is held already`;
  return `no group of collectors explains the failures of ${id}`;
}

const keyLines = [
  'up, down, k, j   the line above or below; in a story it scrolls',
  'enter, right     open the rollout, then the story of the collector',
  'esc, left        back: from a story, a search, a rollout',
  '/                search collectors by words in name, id, builds, stratum or caps, while you type',
  'p                pause the rollout: shows what that does, and asks first',
  'a, r             approve what waits, or resume: shows what that does, and asks first',
  'h                hold the collectors that explain the failures: shows what that does, and asks first',
  '?                these keys, and back',
  'q, Ctrl-C        quit',
];

// The length limit of a reason.
const typedMax = 500;

function typeKey(state: ScreenState, typing: NonNullable<ScreenState['typing']>, key: Key): Pressed {
  switch (key.kind) {
    case 'text':
      return typed(state, typing, `${typing.text}${key.text}`.slice(0, typedMax));
    case 'erase':
      return typed(state, typing, Array.from(typing.text).slice(0, -1).join(''));
    case 'back':
      return typing.what === 'search'
        ? search({ ...state, typing: undefined }, typing.before)
        : { state: { ...state, typing: undefined } };
    case 'enter': {
      const done = { ...state, typing: undefined, cursor: 0 };
      if (typing.what === 'search') return search(done, typing.text);
      const reason = reasonIn(typing.text);
      if (typing.what === 'hold') return { state: done, wish: { kind: 'hold', group: typing.group, reason } };
      const { status, asked } = typing;
      return { state: done, wish: { kind: 'verb', status, asked, reason } };
    }
    default:
      return { state };
  }
}

/** The typed reason. Consent, as other dialogs ask for it, is none. */
function reasonIn(text: string): string {
  const words = text.trim();
  return /^y(es)?$/i.test(words) ? '' : words;
}

/** A search follows what is typed. */
function typed(state: ScreenState, typing: NonNullable<ScreenState['typing']>, text: string): Pressed {
  const next = { ...state, typing: { ...typing, text } };
  return typing.what === 'search' ? search(next, text) : { state: next };
}

/** Lists the collectors with these words, unless they are listed already. */
function search(state: ScreenState, text: string): Pressed {
  const words = text.trim();
  const status = openOne(state);
  if (status === undefined || words === state.words) return { state };
  return { state: { ...state, words, cursor: 0 }, wish: { kind: 'list', status, words } };
}
