import type { EpochMs } from '../../base/time.ts';
import type { StartPreview } from '../../contract/admin/policies.ts';
import type { RolloutEventBody } from '../../contract/admin/rollout-event.ts';
import type { RolloutStatus } from '../../contract/admin/rollout-status.ts';
import type { CollectorPage } from '../../contract/admin/rollouts.ts';
import type { AskedVerb } from '../../rollout/verbs/judge-verb.ts';
import type { Released } from '../rollouts/due-steps.ts';
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
    /** The release of what was shown to be held; the text is its reason. */
    | { readonly what: 'release'; readonly text: string; readonly released: Released }
    /** The start of a policy with the plan that is shown; the text is consent or its reason. `preview`: undefined until it is read. */
    | {
        readonly what: 'start';
        readonly text: string;
        readonly policy: string;
        readonly preview: StartPreview | undefined;
      }
    | undefined;
  /** The result of the last key, where nothing was done. */
  readonly message: string | undefined;
  /** What the last key has done, and when. */
  readonly done: { readonly words: string; readonly at: EpochMs } | undefined;
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
  | { readonly kind: 'hold'; readonly group: string; readonly reason: string }
  | { readonly kind: 'release'; readonly released: Released; readonly reason: string }
  | { readonly kind: 'previewStart'; readonly policy: string }
  | {
      readonly kind: 'start';
      readonly policy: string;
      readonly planHash: string;
      readonly reason: string;
    };

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
  done: undefined,
};

/** The open rollout: the chosen one, or the only one. */
export function openOne({ rows, openId }: Pick<ScreenState, 'rows' | 'openId'>): RolloutStatus | undefined {
  // A policy that waits for a start shows that instead of its last rollout.
  if (openId === undefined)
    return rows.length === 1 && rows[0]?.needs === undefined ? rows[0]?.status : undefined;
  return rows.find(({ status }) => status?.id === openId)?.status;
}

/** The rollout of the policy at the cursor, in the list of policies. */
export function rolloutAtCursor(state: ScreenState): RolloutStatus | undefined {
  return openOne(state) === undefined ? state.rows[state.cursor]?.status : undefined;
}

/** The policy that keys act on: that of the open rollout, else the one at the cursor. */
export function chosenRow(state: ScreenState): PolicyRow | undefined {
  const open = openOne(state);
  return open === undefined
    ? state.rows[state.cursor]
    : state.rows.find(({ status }) => status?.id === open.id);
}

/** Whether a question is open. It is read in full before enter answers it. */
export function isAsking(typing: ScreenState['typing']): boolean {
  return typing !== undefined && typing.what !== 'search';
}

/** Whether the screen has lines to spare: no rollout is known, and neither a story nor a prompt is open. */
export function isEmpty({ rows, story, typing }: ScreenState): boolean {
  return rows.length === 0 && story === undefined && typing === undefined;
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
