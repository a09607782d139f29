import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { connectAgain, connection, isSignedOut, isStale, me } from './live.ts';
import { problemText } from './reading.ts';

/** A question before anything is sent. Its numbers are those of the moment in which it was opened. */
export interface Question {
  readonly title: string;
  /** The action; also the text of the button. */
  readonly label: string;
  readonly isStopping?: boolean;
  readonly content: ComponentChildren;
  /** A text to type before an action that cannot be undone. */
  readonly typed?: string;
  /** Reads the preview that has to be shown before anything can be sent. */
  readonly prepare?: () => Promise<void>;
  /** Why the question is outdated; empty while it is current. Computed again at every update of the page. */
  readonly outdated?: () => string;
  /**
   * Called with the reason. An error is shown, and the person may try again. The dialog closes, unless the result is a text
   * to read.
   */
  readonly send: (reason: string) => Promise<unknown>;
}

/** `number`: grows with each dialog, even where the same question is asked again. */
const asked = signal<{ readonly question: Question; readonly number: number } | undefined>(undefined);
let asks = 0;

export function openQuestion(question: Question): void {
  asks += 1;
  asked.value = { question, number: asks };
}

/** The open dialog, if any. Updates of the page leave it as it is. */
export function OpenDialog() {
  const open = asked.value;
  if (open === undefined) return null;
  const { question, number } = open;
  // The close event arrives later, when the next dialog may be open already.
  const onClosed = () => {
    if (asked.value === open) asked.value = undefined;
  };
  return <Dialog key={number} {...question} onClosed={onClosed} />;
}

function Dialog({
  title,
  label,
  isStopping,
  content,
  typed,
  prepare,
  outdated,
  send,
  onClosed,
}: Question & { readonly onClosed: () => void }) {
  const element = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState('');
  const [name, setName] = useState('');
  const [problem, setProblem] = useState('');
  const [state, setState] = useState<'preparing' | 'ready' | 'sending' | 'unprepared'>(
    prepare === undefined ? 'ready' : 'preparing',
  );
  const [outcome, setOutcome] = useState('');
  const attempt = async (step: () => Promise<void>, otherwise: 'unprepared' | 'ready') => {
    setProblem('');
    try {
      await step();
    } catch (error) {
      if (isSignedOut(error)) connectAgain();
      setProblem(problemText(error));
      setState(otherwise);
    }
  };
  const isShown = useIsShown();
  // Focus moves before the next key, which belongs to the dialog.
  useLayoutEffect(() => {
    if (!isShown) return element.current?.close();
    setProblem('');
    element.current?.showModal();
    if (prepare === undefined || state === 'ready') return;
    setState('preparing');
    void attempt(() => prepare().then(() => setState('ready')), 'unprepared');
  }, [isShown]);
  const change = waitText() || (outdated?.() ?? '');
  const isReady = state === 'ready' && change === '' && (typed === undefined || name.trim() === typed);
  const submit = (event: Event) => {
    event.preventDefault();
    if (!isReady) return;
    setState('sending');
    void attempt(async () => {
      const text = await send(reason);
      if (typeof text === 'string') setOutcome(text);
      else element.current?.close();
    }, 'ready');
  };
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onClose={isShown ? onClosed : undefined}>
      <form onSubmit={submit}>
        <h2 id="dialog-title">{title}</h2>
        <div class="consequences">{outcome === '' ? content : <p role="status">{outcome}</p>}</div>
        <label>
          Reason
          {/* The content may have a field of its own, and a person who types right away gives the reason. */}
          <input
            autofocus
            maxLength={500}
            autocomplete="off"
            placeholder="kept with the event"
            value={reason}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        </label>
        {typed === undefined ? null : (
          <label>
            <span>
              This can’t be undone. Type <b>{typed}</b> to confirm.
            </span>
            <input
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          </label>
        )}
        <p class="error" role="alert">
          {change || problem}
        </p>
        <div class="verbs">
          <button type="button" onClick={() => element.current?.close()}>
            {outcome === '' ? 'cancel' : 'close'}
          </button>
          {outcome === '' ? (
            <button type="submit" class={isStopping ? 'primary bad' : 'primary'} disabled={!isReady}>
              {state === 'sending' ? 'sending …' : label}
            </button>
          ) : null}
        </div>
      </form>
    </dialog>
  );
}

/** False from the moment that a token is needed until the page is live again. The dialog keeps what was typed. */
function useIsShown(): boolean {
  const { kind } = connection.value;
  const [isSignedIn, setSignedIn] = useState(true);
  useLayoutEffect(() => {
    if (kind === 'signedOut') setSignedIn(false);
    if (kind === 'live') setSignedIn(true);
  }, [kind]);
  return isSignedIn && kind !== 'signedOut';
}

/** Why nothing can be sent now; empty when it can. */
function waitText(): string {
  if (isStale.value) return 'This can be sent once the page is live again.';
  return me.value.role === 'operator' ? '' : `You are a ${me.value.role} and may change nothing.`;
}
