import { signal } from '@preact/signals';
import { rollbackFacts } from '../../../rollout/messages/rollback-previews.ts';
import { counted } from '../../../rollout/messages/sentences.ts';
import { countLeft } from '../../../rollout/model/left-behind.ts';
import { type AnswerOf, callDaemon, type Rollout } from '../parts/call.ts';
import { TimeAfter } from '../parts/time.tsx';

type Preview = AnswerOf<'previewRollback'>;

/** What a rollback would do now. It is shown before the rollback can be asked for, and the request repeats its numbers. */
export function makeRollbackPreview(rollout: Rollout) {
  const preview = signal<Preview | undefined>(undefined);
  // A rollback is asked for a second time only to start outside its window.
  const isNow = signal(rollout.kind === 'rollback');
  const Lines = () => {
    const answer = preview.value;
    if (answer === undefined) return <p role="status">Reading what it does …</p>;
    const { window } = answer;
    return (
      <>
        <ul>
          <li>{counted(answer.collectors, 'collector goes', 'collectors go')} back</li>
          {rollbackFacts(answer, isNow.value).map(([about, words]) => (
            <li key={`${about} ${words}`}>
              {about}: {words}
            </li>
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
      return { now: isNow.value, shown: { collectors, leftBehind: countLeft(leftBehind) } };
    },
    load: async (): Promise<void> => {
      preview.value = await callDaemon('previewRollback', { params: { id: rollout.id } });
    },
  };
}
