import { computed, signal } from '@preact/signals';
import { capitalized, sentence } from '../../../rollout/messages/sentences.ts';
import {
  type AnswerOf,
  apiUrl,
  callDaemon,
  type Holds,
  type Policies,
  RefusedError,
  type Rollout,
  refusalOf,
  token,
} from './call.ts';

/** The connection of the page to the daemon. During an outage the last state stays visible. */
export type Connection =
  | { readonly kind: 'loading' }
  | { readonly kind: 'live'; readonly by: 'stream' | 'polling' }
  | { readonly kind: 'away'; readonly since: number; readonly why: string }
  | { readonly kind: 'signedOut'; readonly why: string };

export const connection = signal<Connection>({ kind: 'loading' });
export const rollouts = signal<readonly Rollout[]>([]);
export const policies = signal<Policies | undefined>(undefined);
export const holds = signal<Holds | undefined>(undefined);
/** When the last message of the daemon arrived. */
export const heardAt = signal(0);
/** The caller that the page acts as. */
export const me = signal<AnswerOf<'whoAmI'>>({ name: null, role: 'operator' });
export const isStale = computed(() => connection.value.kind === 'away');

const pollMs = 3_000;
/** A stream sends at least a ping every 15 s. A silent stream is buffered by a proxy. */
const silenceMs = 20_000;
const firstWordMs = 6_000;
const silentText =
  'The daemon does not answer. Check that it is running; this page continues when the daemon is back.';
/** How long the page polls before it tries the stream again. */
const polledMax = 20;

/** Follows the daemon as long as the page is open. */
export async function followDaemon(): Promise<void> {
  for (;;) {
    try {
      me.value = await callDaemon('whoAmI');
      await readStream();
    } catch (error) {
      if (isSignedOut(error)) await signIn(error);
      else await pollForAWhile();
    }
  }
}

/** Ends the open stream. */
let streamEnd = new AbortController();

/** Finds out at once who the caller is: a request was refused for its token, although the stream is still open. */
export function connectAgain(): void {
  streamEnd.abort();
}

let wakeSignIn: (() => void) | undefined;

/** Stores the token of this tab, and connects with it. */
export function keepToken(text: string): void {
  token.keep(text);
  wakeSignIn?.();
}

export function signOut(): void {
  token.forget();
  location.reload();
}

/** Shows the status from the answer of a verb, before the stream brings it. */
export function tookPlace(changed: Rollout): void {
  rollouts.value = rollouts.value.map((each) => (each.id === changed.id ? changed : each));
}

export function isSignedOut(error: unknown): error is RefusedError {
  return error instanceof RefusedError && error.status === 401;
}

async function signIn(refusal: RefusedError): Promise<void> {
  const why = token.isKnown() ? `${capitalized(refusal.message)}.` : '';
  token.forget();
  rollouts.value = [];
  connection.value = { kind: 'signedOut', why };
  await new Promise<void>((resolve) => {
    wakeSignIn = resolve;
  });
  connection.value = { kind: 'loading' };
}

async function pollForAWhile(): Promise<void> {
  for (let polled = 0; polled < polledMax; polled += 1) {
    if (!document.hidden) {
      try {
        const [current, scans, held] = await Promise.all([
          callDaemon('listRollouts'),
          callDaemon('listPolicies'),
          callDaemon('listHolds'),
        ]);
        [rollouts.value, policies.value, holds.value] = [current.rollouts, scans, held];
        heard('polling');
      } catch (error) {
        if (isSignedOut(error)) return signIn(error);
        away(error instanceof RefusedError ? sentence(error.message) : silentText);
        // After an outage a stream may be possible again at once.
        if (polled > 0 && !(error instanceof RefusedError)) return pause(pollMs);
      }
    }
    await pause(pollMs);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function heard(by: 'stream' | 'polling'): void {
  heardAt.value = Date.now();
  const now = connection.value;
  if (now.kind !== 'live' || now.by !== by) connection.value = { kind: 'live', by };
}

function away(why: string): void {
  const now = connection.value;
  const since = now.kind === 'away' ? now.since : heardAt.value || Date.now();
  connection.value = { kind: 'away', since, why };
}

/** Reads the stream until it ends, and opens it again. @throws when there is none, or it becomes silent */
async function readStream(): Promise<void> {
  const silence = new AbortController();
  streamEnd = silence;
  const headers = { accept: 'text/event-stream', ...token.headers() };
  let timer = setTimeout(() => silence.abort(), firstWordMs);
  try {
    const response = await fetch(apiUrl('/stream'), { headers, cache: 'no-store', signal: silence.signal });
    if (!response.ok || response.body === null) throw await refusalOf(response);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), silenceMs);
      text += value;
      const messages = text.split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) take(message);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** A message of the stream: the parts of the state that have changed. */
interface StreamMessages {
  readonly rollouts: { readonly ids: readonly string[]; readonly changed: readonly Rollout[] };
  readonly policies: Policies;
  readonly holds: Holds;
  readonly away: { readonly message: string };
}

const takers: { readonly [Kind in keyof StreamMessages]: (data: StreamMessages[Kind]) => void } = {
  rollouts: ({ ids, changed }) => {
    const known = new Map([...rollouts.value, ...changed].map((each) => [each.id, each]));
    rollouts.value = ids.flatMap((id) => known.get(id) ?? []);
  },
  policies: (data) => {
    policies.value = data;
  },
  holds: (data) => {
    holds.value = data;
  },
  away: ({ message }) => away(message),
};

function take(message: string): void {
  // Sent while there is no change: the state is still the one that the page has.
  if (message === ': ping') heard('stream');
  const kind = /^event: (\w+)$/m.exec(message)?.[1];
  const data = /^data: (.*)$/m.exec(message)?.[1];
  if (kind === undefined || data === undefined || !(kind in takers)) return;
  const taker = takers[kind as keyof StreamMessages] as (data: unknown) => void;
  taker(JSON.parse(data));
  if (kind !== 'away') heard('stream');
}
