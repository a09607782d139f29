import type { Signal } from '@preact/signals';
import type { Rollout } from '../parts/call.ts';

export type Settlement = 'watch' | 'withdraw';

/** How corrupt records may be settled. */
export function RepairLines({ rollout, choice }: { rollout: Rollout; choice: Signal<Settlement> }) {
  const option = (value: Settlement, words: string) => (
    <label class="choice">
      <input
        type="radio"
        name="settlement"
        checked={choice.value === value}
        onChange={() => (choice.value = value)}
      />
      <span>
        <b>{value}</b>: {words}
      </span>
    </label>
  );
  return (
    <>
      <p>{rollout.blockers.find(({ kind }) => kind === 'recordsUnreadable')?.reason ?? rollout.reason}</p>
      {option(
        'watch',
        'an upgrade that may be running is watched to its deadline. Its slot stays taken. The safe choice.',
      )}
      {option(
        'withdraw',
        'only if you know that its upgrade is not running. The collector leaves the rollout and its slot is free.',
      )}
    </>
  );
}
