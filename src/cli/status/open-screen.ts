import { Box, render, Text, useInput } from 'ink';
import { createElement } from 'react';
import type { DurationMs } from '../../base/time.ts';
import { sleepForReal } from '../../base/waiting.ts';
import type { StartPreview } from '../../contract/admin/policies.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import { commandName } from '../../rollout/status/command-for.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { showMinute } from '../shell/show-instant.ts';
import { withPreview } from './ask-question.ts';
import { pressKeys } from './press-key.ts';
import { readKeys } from './read-keys.ts';
import { isSplit, screenLines } from './screen-lines.ts';
import {
  emptyScreen,
  type Key,
  openOne,
  rolloutAtCursor,
  type ScreenState,
  type Wish,
  withReading,
} from './screen-state.ts';

/** The calls of the screen to the daemon. Each fails with a message for the operator. */
export interface ScreenActions {
  list(wish: Extract<Wish, { kind: 'list' }>): Promise<NonNullable<ScreenState['collectors']>>;
  /** The last events of the rollout, newest first. */
  events(status: RolloutStatus): Promise<ScreenState['events']>;
  explain(collectorId: number): Promise<readonly string[]>;
  /** When it returns, the verb is in force. */
  apply(wish: Extract<Wish, { kind: 'verb' }>): Promise<void>;
  /** When it returns, no upgrade of the group starts any more. */
  hold(wish: Extract<Wish, { kind: 'hold' }>): Promise<void>;
  release(wish: Extract<Wish, { kind: 'release' }>): Promise<void>;
  /** The plan that `start` would start now. It reads the fleet. */
  previewStart(policy: string): Promise<StartPreview>;
  start(wish: Extract<Wish, { kind: 'start' }>): Promise<void>;
}

/** A live screen of rollouts. */
export interface Screen {
  show(reading: Pick<ScreenState, 'rows' | 'notes'>): void;
  /** Reports that there is no update. The last state stays on the screen. */
  trouble(words: string): void;
  close(): void;
}

const alternate = '\u001b[?1049h';
const ordinary = '\u001b[?1049l';
const redrawMs: DurationMs = 1_000;
const listEveryMs: DurationMs = 900;
// A search waits for this pause between two keys, because each search takes the daemon up to 0.2 s.
const typingPauseMs: DurationMs = 200;
const framesPerSecond = 20;

/** Takes over the terminal on its alternate screen. Closing restores the previous content. */
export function openScreen(output: ConsoleOutput, actions: ScreenActions): Screen {
  const { stdout } = process;
  let state = emptyScreen;
  let listedAt = 0;
  const draw = () => {
    const size = { columns: stdout.columns, rows: stdout.rows };
    return createElement(Lines, { lines: screenLines(state, Date.now(), size, output), onKeys, isAsked });
  };
  const isAsked = process.stdin.isTTY === true;
  const change = (next: ScreenState): void => {
    // An answer that comes after the end would take the terminal over again, for ever.
    if (closed.signal.aborted) return;
    state = next;
    terminal.redraw();
  };
  const onKeys = (keys: readonly Key[]): void => {
    const pressed = pressKeys(state, keys);
    change(pressed.state);
    for (const wish of pressed.wishes) void fulfil(wish);
  };
  const isListed = (status: RolloutStatus, words: string): boolean =>
    state.words === words && openOne(state)?.id === status.id;
  const fulfil = async (wish: Wish): Promise<void> => {
    if (wish.kind === 'list') return list(wish);
    if (wish.kind === 'previewStart') {
      const read = await settle(actions.previewStart(wish.policy));
      return change(withPreview(state, wish.policy, read));
    }
    try {
      const done = await fulfilWish(wish, actions);
      change({ ...state, message: undefined, ...done });
    } catch (error) {
      change({ ...state, message: error instanceof Error ? error.message : String(error) });
    }
  };
  /** Lists collectors, unless other words are typed meanwhile. */
  const list = async (wish: Extract<Wish, { kind: 'list' }>): Promise<void> => {
    if (state.typing !== undefined) await sleepForReal(typingPauseMs, closed.signal);
    if (closed.signal.aborted || !isListed(wish.status, wish.words)) return;
    const read = await settle(actions.list(wish));
    if (!isListed(wish.status, wish.words)) return;
    change({ ...state, ...('value' in read ? { collectors: read.value, message: undefined } : read) });
  };
  /** Refreshes the listed collectors, or the events of the rollout at the cursor. The message of the last key stays. */
  const refresh = async (): Promise<void> => {
    const { words } = state;
    const open = openOne(state);
    const chosen = rolloutAtCursor(state);
    if (open !== undefined) {
      const read = await settle(actions.list({ kind: 'list', status: open, words }));
      if (!('value' in read)) change({ ...state, trouble: read.message });
      else if (isListed(open, words)) change({ ...state, collectors: read.value });
    } else if (chosen !== undefined && isSplit(state, stdout.rows)) {
      const read = await settle(actions.events(chosen));
      change({ ...state, ...('value' in read ? { events: read.value } : { trouble: read.message }) });
    }
  };
  const closed = new AbortController();
  const terminal = takeTerminal(draw);
  return {
    show: (reading) => {
      change(withReading(state, { ...reading, seenAt: Date.now() }));
      const isDue = Date.now() - listedAt >= listEveryMs;
      if (state.story !== undefined || !isDue) return;
      listedAt = Date.now();
      void refresh();
    },
    trouble: (trouble) => change({ ...state, trouble }),
    close: () => {
      closed.abort();
      terminal.close();
    },
  };
}

async function settle<T>(reading: Promise<T>): Promise<{ readonly value: T } | { readonly message: string }> {
  try {
    return { value: await reading };
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) };
  }
}

/** Draws on the alternate screen at intervals, and at each change of its size. */
function takeTerminal(draw: () => ReturnType<typeof createElement>): {
  readonly redraw: () => void;
  readonly close: () => void;
} {
  const { stdout } = process;
  stdout.write(alternate);
  const leave = (): void => void stdout.write(ordinary);
  process.once('exit', leave);
  const app = render(draw(), {
    stdout,
    patchConsole: false,
    exitOnCtrlC: false,
    incrementalRendering: true,
    maxFps: framesPerSecond,
  });
  const redraw = (): void => app.rerender(draw());
  const timer = setInterval(redraw, redrawMs);
  stdout.on('resize', redraw);
  return {
    redraw,
    close: () => {
      clearInterval(timer);
      stdout.off('resize', redraw);
      process.off('exit', leave);
      app.unmount();
      leave();
    },
  };
}

/** With its instant, because the line stays for a while. */
function doneNow(what: string): Pick<ScreenState, 'done'> {
  const at = Date.now();
  return { done: { words: `done: ${what}, at ${showMinute(at, at)}`, at } };
}

async function fulfilWish(
  wish: Exclude<Wish, { kind: 'list' | 'previewStart' }>,
  actions: ScreenActions,
): Promise<Partial<ScreenState>> {
  switch (wish.kind) {
    case 'explain':
      return { story: { lines: await actions.explain(wish.collectorId), from: 0 } };
    case 'verb':
      await actions.apply(wish);
      return doneNow(`${commandName(wish.asked.verb)} ${wish.status.id}`);
    case 'hold':
      await actions.hold(wish);
      return doneNow(`hold ${wish.group}`);
    case 'release':
      await actions.release(wish);
      return doneNow(`release ${wish.released.subjects.join(', ')}`);
    case 'start':
      await actions.start(wish);
      return doneNow(`start ${wish.policy}`);
    case 'quit':
      interrupt();
      return {};
    default:
      return wish satisfies never;
  }
}

function Lines({
  lines,
  onKeys,
  isAsked,
}: {
  readonly lines: readonly string[];
  readonly onKeys: (keys: readonly Key[]) => void;
  readonly isAsked: boolean;
}) {
  useInput(
    (text, key) => {
      // In raw mode the terminal sends no signal for Ctrl-C.
      if (key.ctrl && text === 'c') interrupt();
      onKeys(readKeys(text, key));
    },
    { isActive: isAsked },
  );
  return createElement(
    Box,
    { flexDirection: 'column' },
    // ink gives an empty line no height.
    ...lines.map((line, index) =>
      createElement(Text, { key: index, wrap: 'truncate-end' }, line === '' ? ' ' : line),
    ),
  );
}

/** Whoever runs closes what is open. */
function interrupt(): void {
  process.kill(process.pid, 'SIGINT');
}
