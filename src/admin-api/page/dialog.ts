import { type Child, make, showText } from './elements.ts';

interface DialogParts {
  /** What the person asks for; also the text of the button that sends it. */
  readonly label: string;
  readonly heading: readonly Child[];
  readonly isStopping: boolean;
  readonly content: readonly Child[];
  /** Reads what the dialog has to show before anything can be sent. */
  readonly prepare?: () => Promise<void>;
  /** Called with the reason. What it throws is shown, and the person may try again. */
  readonly send: (reason: string) => Promise<void>;
}

/** Asks a person for a reason, and for a second thought, before anything is sent. */
export async function openDialog({
  label,
  heading,
  isStopping,
  content,
  prepare,
  send,
}: DialogParts): Promise<void> {
  const reason = make('input', {
    id: 'reason',
    maxlength: '500',
    autocomplete: 'off',
    placeholder: 'why; kept with the event',
  });
  const problem = make('p', { class: 'error', role: 'alert' });
  const submit = make('button', { type: 'submit', class: isStopping ? 'bad' : undefined }, label);
  const back = make('button', { type: 'button', onclick: () => dialog.close() }, 'back');
  const form = make(
    'form',
    {},
    make('h2', {}, ...heading),
    ...content,
    make('label', { for: 'reason' }, 'Reason'),
    reason,
    problem,
    make('div', { class: 'verbs' }, back, submit),
  );
  const dialog = make('dialog', { 'aria-label': label }, form);

  const attempt = async (step: () => Promise<void>) => {
    submit.disabled = true;
    problem.textContent = '';
    try {
      await step();
      return true;
    } catch (error) {
      showText(problem, error instanceof Error ? error.message : String(error));
      return false;
    }
  };
  const sendAndClose = async () => {
    const isSent = await attempt(() => send(reason.value));
    submit.disabled = false;
    if (isSent) dialog.close();
  };

  dialog.addEventListener('close', () => dialog.remove());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void sendAndClose();
  });
  document.body.append(dialog);
  dialog.showModal();
  // Without what it has to show, nothing can be sent.
  if (prepare !== undefined && (await attempt(prepare))) submit.disabled = false;
}
