import { type AnswerOf, call, type Rollout } from './api.ts';
import { clock, make, span } from './elements.ts';

type Preview = AnswerOf<'previewRollback'>;

/** What a rollback would do now. It is shown before the rollback can be asked for, and the request repeats its numbers. */
export interface RollbackPreview {
  readonly element: HTMLElement;
  readonly load: () => Promise<void>;
  /** What was shown, and whether the rollback starts outside its window. */
  readonly confirmed: () => {
    readonly now: boolean;
    readonly shown?: { readonly collectors: number; readonly leftBehind: number };
  };
}

export function makeRollbackPreview(rollout: Rollout): RollbackPreview {
  const element = make(
    'ul',
    { class: 'holds', 'aria-live': 'polite' },
    make('li', {}, 'Reading what it does…'),
  );
  const now = make('input', { id: 'now', type: 'checkbox' });
  // A rollback is asked for a second time only to start outside its window.
  now.checked = rollout.kind === 'rollback';
  let shown: { readonly collectors: number; readonly leftBehind: number } | undefined;
  return {
    element,
    confirmed: () => ({ now: now.checked, ...(shown !== undefined && { shown }) }),
    load: async () => {
      const preview = await call('previewRollback', { params: { id: rollout.id } });
      const leftBehind = preview.leftBehind.reduce((total, left) => total + left.count, 0);
      shown = { collectors: preview.collectors, leftBehind };
      element.replaceChildren(...linesOf(preview).map((line) => make('li', {}, line)));
      if (preview.window === null) return;
      const { isOpen, until, timeZone } = preview.window;
      const end = until === null ? [] : [' until ', clock(until, timeZone)];
      element.append(
        make('li', {}, `window ${isOpen ? 'open' : 'closed'}`, ...end),
        make('li', {}, now, make('label', { for: 'now' }, ' start now, outside windows and inside freezes')),
      );
    },
  };
}

function linesOf(preview: Preview): string[] {
  const { collectors, builds, running, unconfirmed, leftBehind, concurrency, caps } = preview;
  return [
    `${collectors} collectors go back`,
    `to ${builds.map(({ build, count }) => `${build} (${count})`).join(', ')}`,
    running > 0 ? `${running} of them are still being upgraded; each ends first` : '',
    unconfirmed > 0 ? `${unconfirmed} of them never showed the build; they go back only if they do` : '',
    ...leftBehind.map(({ count, reason, names }) => `${count} stay: ${reason}: ${names.join(', ')}`),
    preview.waves.map(waveText).join(' → '),
    `${concurrency} at a time${caps.map(({ key, cap }) => `, ${cap} for each ${key}`).join('')}`,
  ].filter((line) => line !== '');
}

function waveText({ name, size, maxFailures, soakMs }: Preview['waves'][number], index: number): string {
  const members = size === null ? 'those that match' : `${index === 0 ? 'at most ' : ''}${size}`;
  return `${name} ${members}, ${maxFailures} may fail${soakMs > 0 ? `, soak ${span(soakMs)}` : ''}`;
}
