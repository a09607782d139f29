import { signal } from '@preact/signals';
import { formatDuration } from '../../../base/time.ts';
import { type AnswerOf, call, type Rollout } from '../parts/call.ts';
import { TimeAfter } from '../parts/time.tsx';
import { counted } from '../parts/tones.tsx';

type Preview = AnswerOf<'previewRollback'>;

/** What a rollback would do now. It is shown before the rollback can be asked for, and the request repeats its numbers. */
export function makeRollbackPreview(rollout: Rollout) {
  const preview = signal<Preview | undefined>(undefined);
  // A rollback is asked for a second time only to start outside its window.
  const isNow = signal(rollout.kind === 'rollback');
  const Lines = () => {
    const shown = preview.value;
    if (shown === undefined) return <p role="status">Reading what it does …</p>;
    const { window } = shown;
    return (
      <>
        <ul>
          {linesOf(shown).map((line) => (
            <li key={line}>{line}</li>
          ))}
          {window === null ? null : (
            <li>
              window {window.isOpen ? 'open' : 'closed'}
              <TimeAfter words=" until " at={window.until} zone={window.timeZone} />
            </li>
          )}
        </ul>
        {window === null ? null : (
          <label class="choice">
            <input
              type="checkbox"
              checked={isNow.value}
              onChange={({ currentTarget }) => (isNow.value = currentTarget.checked)}
            />
            start now, outside windows and inside freezes
          </label>
        )}
      </>
    );
  };
  return {
    Lines,
    /** What was shown, and whether the rollback starts outside its window. */
    confirmed: () => {
      if (preview.value === undefined) return { now: isNow.value };
      const { collectors, leftBehind } = preview.value;
      const stay = leftBehind.reduce((total, left) => total + left.count, 0);
      return { now: isNow.value, shown: { collectors, leftBehind: stay } };
    },
    load: async (): Promise<void> => {
      preview.value = await call('previewRollback', { params: { id: rollout.id } });
    },
  };
}

function linesOf(preview: Preview): string[] {
  const { collectors, builds, running, unconfirmed, leftBehind, concurrency, caps } = preview;
  return [
    `${counted(collectors, 'collector')} go back`,
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
  return `${name} ${members}, ${maxFailures} may fail${soakMs > 0 ? `, soak ${formatDuration(soakMs)}` : ''}`;
}
