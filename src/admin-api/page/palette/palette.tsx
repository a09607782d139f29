import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { docsPath } from '../../../docs/docs-paths.ts';
import { keptSignal } from '../parts/kept.ts';
import { connection } from '../parts/live.ts';
import { linkTo } from '../parts/route.ts';
import { type Command, commandsFor, findCollectors } from './commands.ts';

type Kind = 'palette' | 'keys';

/** `number`: grows with each dialog, because the close event of the one before may come later. */
const shown = signal<{ readonly kind: Kind; readonly number: number } | undefined>(undefined);
let shows = 0;

function show(kind: Kind): void {
  shows += 1;
  shown.value = { kind, number: shows };
}

/** Single keys are in the way of speech input, so they can be switched off. */
const hasSingleKeys = keptSignal('upwave.keys', true, (value) => typeof value === 'boolean');

// Not each letter is asked for.
const typedMs = 150;

/** How long the second key after `g` may take. */
const secondKeyMs = 1_500;

const places: Readonly<Record<string, string>> = {
  p: linkTo.overview,
  a: linkTo.activity(),
  b: linkTo.builds,
  g: docsPath,
};

const keys: ReadonlyArray<readonly [string, string]> = [
  ['Ctrl+K or ⌘K', 'find a rollout, a collector or a verb'],
  ['/', 'go to the search of this view'],
  ['j k', 'go to the next or the previous row'],
  ['g p', 'go to the policies'],
  ['g a', 'go to the activity'],
  ['g b', 'go to the builds'],
  ['g g', 'go to the guides'],
  ['?', 'show these keys'],
  ['Esc', 'close a dialog'],
];

/** The palette of commands and the list of keys, and the keys that open them. */
export function Palette() {
  useKeys();
  const open = shown.value;
  if (open === undefined || connection.value.kind === 'signedOut') return null;
  const onClosed = () => {
    if (shown.value === open) shown.value = undefined;
  };
  return <PaletteDialog key={open.number} kind={open.kind} onClosed={onClosed} />;
}

/** Shows the keys to a person who does not know them. */
export function KeysButton() {
  return (
    <button type="button" class="plain" onClick={() => show('keys')}>
      Keys
    </button>
  );
}

function useKeys(): void {
  useEffect(() => {
    let startedAt = Number.NEGATIVE_INFINITY;
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === 'k') {
        event.preventDefault();
        if (document.querySelector('dialog[open]') === null) show('palette');
        return;
      }
      if (!hasSingleKeys.value || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector('dialog[open]') !== null || isTyping(target)) return;
      const place = event.timeStamp - startedAt < secondKeyMs ? places[key] : undefined;
      startedAt = key === 'g' && place === undefined ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (place !== undefined) location.assign(place);
      else if (key === '/') focusSearch();
      else if (key === 'j' || key === 'k') focusRow(key === 'j' ? 1 : -1);
      else if (key === '?') show('keys');
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input:not([type=checkbox]), select, textarea');
}

/** A view without a search has the palette. */
function focusSearch(): void {
  const search = document.querySelector<HTMLInputElement>('main input[type=search]');
  if (search === null) show('palette');
  else search.focus();
}

const rowLinks =
  '.policies h3 a, .ended li > :first-child a:first-child, .collectors tbody tr a, .activity tbody a';

/** Enter opens the link of the row, as everywhere. */
function focusRow(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>(rowLinks)];
  const now = document.activeElement instanceof HTMLElement ? links.indexOf(document.activeElement) : -1;
  const next = links[now < 0 ? 0 : Math.min(links.length - 1, Math.max(0, now + step))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

function PaletteDialog({ kind, onClosed }: { readonly kind: Kind; readonly onClosed: () => void }) {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => element.current?.showModal(), []);
  const close = () => {
    element.current?.close();
    onClosed();
  };
  return (
    <dialog
      ref={element}
      class="palette"
      aria-label={kind === 'keys' ? 'Keys' : 'Commands'}
      onClose={onClosed}
    >
      {kind === 'keys' ? <Keys close={close} /> : <Commands close={close} />}
    </dialog>
  );
}

function Keys({ close }: { readonly close: () => void }) {
  return (
    <>
      <h2>Keys</h2>
      <dl>
        {keys.map(([key, words]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <label>
        <input
          type="checkbox"
          checked={hasSingleKeys.value}
          onChange={({ currentTarget }) => (hasSingleKeys.value = currentTarget.checked)}
        />
        single keys
      </label>
      <div class="verbs">
        <button type="button" onClick={close}>
          close
        </button>
      </div>
    </>
  );
}

/** Collectors with a part of what is typed in their names, from three letters on. */
function useNamed(typed: string): readonly Command[] {
  const [found, setFound] = useState<{ readonly typed: string; readonly commands: readonly Command[] }>();
  useEffect(() => {
    const timer = setTimeout(() => {
      void findCollectors(typed).then((commands) => setFound({ typed, commands }));
    }, typedMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return found?.typed === typed ? found.commands : [];
}

function Commands({ close }: { readonly close: () => void }) {
  const [typed, setTyped] = useState('');
  const list = useRef<HTMLUListElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const named = useNamed(typed.trim());
  const commands = [...named, ...commandsFor(typed)];
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    // The dialog of a verb opens after this one, and returns the focus to the page.
    close();
    command.run();
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const places = [field.current, ...(list.current?.querySelectorAll('button') ?? [])];
    const next = places.findIndex((each) => each?.matches(':focus')) + step;
    places[(next + places.length) % places.length]?.focus();
  };
  return (
    <form
      onKeyDown={move}
      onSubmit={(event) => {
        event.preventDefault();
        run(commands[0]);
      }}
    >
      <label>
        Find a rollout, a collector or a verb
        <input
          ref={field}
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </label>
      <ul ref={list}>
        {commands.map((command) => (
          <li key={command.words}>
            <button type="button" class="plain" onClick={() => run(command)}>
              {command.words}
            </button>
          </li>
        ))}
      </ul>
      <p class="quiet small" role="status">
        {commands.length === 0
          ? 'Nothing has these words.'
          : '↑ ↓ choose, Enter takes the first or the chosen one.'}
      </p>
    </form>
  );
}
