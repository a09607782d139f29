import type { EpochMs } from '../../base/time.ts';
import { upgradeReasonWords } from '../messages/upgrade-reasons.ts';
import { reasonOf, type Upgrade, type UpgradeState } from '../model/upgrade.ts';
import { endedAtOf } from '../model/upgrade-figures.ts';

/** How one attempt went: for whoever asks about the collector. */
export interface AttemptStatus {
  /** null: it was refused before there was a task, or adopted. */
  readonly taskId: string | null;
  readonly startedAt: EpochMs;
  /** null while it is in flight. */
  readonly endedAt: EpochMs | null;
  /** The state that it led to. */
  readonly state: UpgradeState;
  readonly reason: string;
}

/** The attempts of an upgrade, oldest first, as far as they are kept. */
export function attemptsOf(upgrade: Upgrade): readonly AttemptStatus[] {
  return (upgrade.tally.tasks ?? []).map(({ taskId, startedAt, ended }) => {
    const reason = ended === undefined ? reasonOf(upgrade) : ended.reason;
    return {
      taskId,
      startedAt,
      endedAt: ended?.at ?? endedAtOf(upgrade),
      state: ended?.state ?? upgrade.progress.state,
      reason: reason === undefined ? '' : upgradeReasonWords(reason),
    };
  });
}
