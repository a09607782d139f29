import { Box, type Key as InkKey, render, Text, useInput } from 'ink';
import { createElement } from 'react';
import type { DurationMs } from '../../base/time.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { ConsoleOutput } from '../shell/console-output.ts';
import { screenLines } from './screen-lines.ts';
import {
  emptyScreen,
  type Key,
  openOne,
  pressKey,
  type ScreenState,
  type Wish,
  withReading,
} from './screen-state.ts';

/** The calls of the screen to the daemon. Each fails with a message for the operator. */
export interface ScreenActions {
  list(wish: Extract<Wish, { kind: 'list' }>): Promise<ScreenState['collectors']>;
  explain(collectorId: number): Promise<readonly string[]>;
  /** When it returns, no upgrade starts any more. */
  pause(wish: Extract<Wish, { kind: 'pause' }>): Promise<void>;
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
const framesPerSecond = 20;

/** Takes over the terminal on its alternate screen. Closing restores the previous content. */
export function openScreen(output: ConsoleOutput, actions: ScreenActions): Screen {
  const { stdout } = process;
  let state = emptyScreen;
  let listedAt = 0;
  const draw = () => {
    const size = { columns: stdout.columns, rows: stdout.rows };
    return createElement(Lines, { lines: screenLines(state, Date.now(), size, output), onKey, isAsked });
  };
  const isAsked = process.stdin.isTTY === true;
  const change = (next: ScreenState): void => {
    state = next;
    terminal.redraw();
  };
  const onKey = (key: Key): void => {
    const pressed = pressKey(state, key);
    change(pressed.state);
    if (pressed.wish !== undefined) void fulfil(pressed.wish);
  };
  const fulfil = async (wish: Wish): Promise<void> => {
    try {
      const done = await fulfilWish(wish, actions);
      change({ ...state, message: undefined, ...done });
    } catch (error) {
      change({ ...state, message: error instanceof Error ? error.message : String(error) });
    }
  };
  /** Refreshes the listed collectors. The message of the last key stays. */
  const refresh = async (status: RolloutStatus): Promise<void> => {
    const { words } = state;
    const listed = await actions
      .list({ kind: 'list', status, words })
      .catch((error: unknown) => String(error));
    if (typeof listed === 'string') change({ ...state, trouble: listed });
    else if (state.words === words && openOne(state)?.id === status.id)
      change({ ...state, collectors: listed });
  };
  const terminal = takeTerminal(draw);
  return {
    show: (reading) => {
      change(withReading(state, { ...reading, seenAt: Date.now() }));
      const status = openOne(state);
      const isDue = Date.now() - listedAt >= listEveryMs;
      if (status === undefined || state.story !== undefined || !isDue) return;
      listedAt = Date.now();
      void refresh(status);
    },
    trouble: (trouble) => change({ ...state, trouble }),
    close: terminal.close,
  };
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

async function fulfilWish(wish: Wish, actions: ScreenActions): Promise<Partial<ScreenState>> {
  switch (wish.kind) {
    case 'list':
      return { collectors: await actions.list(wish) };
    case 'explain':
      return { story: { lines: await actions.explain(wish.collectorId), from: 0 } };
    case 'pause':
      await actions.pause(wish);
      return { message: `${wish.status.id} is paused: nothing more starts` };
    case 'quit':
      interrupt();
      return {};
    default:
      return wish satisfies never;
  }
}

function Lines({
  lines,
  onKey,
  isAsked,
}: {
  readonly lines: readonly string[];
  readonly onKey: (key: Key) => void;
  readonly isAsked: boolean;
}) {
  useInput(
    (text, key) => {
      const pressed = readKey(text, key);
      if (pressed !== undefined) onKey(pressed);
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

function readKey(text: string, key: InkKey): Key | undefined {
  // In raw mode the terminal sends no signal for Ctrl-C.
  if (key.ctrl) {
    if (text === 'c') interrupt();
    return undefined;
  }
  if (key.upArrow) return { kind: 'up' };
  if (key.downArrow) return { kind: 'down' };
  if (key.return) return { kind: 'enter' };
  if (key.escape || key.leftArrow) return { kind: 'back' };
  if (key.rightArrow) return { kind: 'enter' };
  if (key.backspace || key.delete) return { kind: 'erase' };
  return text === '' ? undefined : { kind: 'text', text };
}
