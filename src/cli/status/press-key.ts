import { assertNever } from '../../base/assert.ts';
import { askHold, askRelease, askStart, askVerb } from './ask-question.ts';
import {
  isAsking,
  type Key,
  openOne,
  type Pressed,
  rolloutAtCursor,
  type ScreenState,
  type Wish,
} from './screen-state.ts';

type Typing = NonNullable<ScreenState['typing']>;
type Question = Exclude<Typing, { readonly what: 'search' | 'start' }>;
type StartQuestion = Extract<Typing, { readonly what: 'start' }>;

/**
 * Applies the keys of one write. A question that one of them opens is not answered by another one, because nobody has read
 * it: a paste of several lines must not confirm anything else.
 */
export function pressKeys(
  before: ScreenState,
  keys: readonly Key[],
): { readonly state: ScreenState; readonly wishes: readonly Wish[] } {
  const wishes: Wish[] = [];
  let state = before;
  let isUnread = false;
  for (const key of keys) {
    if (isUnread && key.kind === 'enter') continue;
    const pressed = pressKey(state, key);
    isUnread = isAsking(pressed.state.typing) && (isUnread || !isAsking(state.typing));
    state = pressed.state;
    if (pressed.wish !== undefined) wishes.push(pressed.wish);
  }
  return { state, wishes };
}

/** Applies a key. What an earlier one has done is no longer shown. */
export function pressKey(before: ScreenState, key: Key): Pressed {
  const state = { ...before, done: undefined };
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
  // Of several characters that came together only a search is known, which changes nothing.
  if (text.length > 1 && text.startsWith('/')) {
    const { state: opened } = command(state, '/');
    return opened.typing === undefined ? { state } : pressKey(opened, { kind: 'text', text: text.slice(1) });
  }
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
    case 'l':
      return askRelease(state, status);
    case 's':
      return askStart(state);
    case '?':
      if (state.story?.lines === keyLines) return { state: { ...state, story: undefined } };
      return { state: { ...state, story: { lines: keyLines, from: 0 }, message: undefined } };
    default:
      return { state };
  }
}

const keyLines = [
  'up, down, k, j   the line above or below; in a story it scrolls',
  'enter, right     open the rollout, then the story of the collector',
  'esc, left        back: from a story, a search, a rollout',
  '/                search collectors by words in name, id, builds, stratum or caps, while you type',
  'p                pause the rollout: shows what that does, and asks first',
  'a, r             approve what waits, or resume: shows what that does, and asks first',
  'h                hold the collectors that explain the failures: shows what that does, and asks first',
  'l                release the held build or the held strata: shows what that does, and asks first',
  's                start a policy that waits for it: shows the plan, and asks first',
  '?                these keys, and back',
  'q, Ctrl-C        quit',
];

// The length limit of a reason.
const typedMax = 500;

function typeKey(state: ScreenState, typing: Typing, key: Key): Pressed {
  // The plan has not been shown yet.
  if (typing.what === 'start' && typing.preview === undefined && key.kind !== 'back') return { state };
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
      if (typing.what === 'start') return start(state, typing);
      const done = { ...state, typing: undefined, cursor: 0 };
      if (typing.what === 'search') return search(done, typing.text);
      const reason = reasonIn(typing.text);
      return { state: done, wish: wishOf(typing, reason) };
    }
    default:
      return { state };
  }
}

/** Its question opens when the plan is read, perhaps right before enter. So it wants more than enter. */
function start(state: ScreenState, { text, policy, preview }: StartQuestion): Pressed {
  if (preview === undefined || text.trim() === '') return { state };
  const { planHash } = preview;
  return {
    state: { ...state, typing: undefined },
    wish: { kind: 'start', policy, planHash, reason: reasonIn(text) },
  };
}

function wishOf(typing: Question, reason: string): Wish {
  switch (typing.what) {
    case 'verb':
      return { kind: 'verb', status: typing.status, asked: typing.asked, reason };
    case 'hold':
      return { kind: 'hold', group: typing.group, reason };
    case 'release':
      return { kind: 'release', released: typing.released, reason };
    default:
      return assertNever(typing);
  }
}

/** The typed reason. Consent, as other dialogs ask for it, is none. */
function reasonIn(text: string): string {
  const words = text.trim();
  return /^y(es)?$/i.test(words) ? '' : words;
}

/** A search follows what is typed. */
function typed(state: ScreenState, typing: Typing, text: string): Pressed {
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
