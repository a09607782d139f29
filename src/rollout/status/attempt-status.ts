import type { EpochMs } from '../../base/time.ts';
import { upgradeReasonWords } from '../messages/upgrade-reasons.ts';
import { reasonOf, type Upgrade, type UpgradeState } from '../model/upgrade.ts';
import { endedAtOf } from '../model/upgrade-figures.ts';

/** One attempt of an upgrade, as shown to an operator. */
export interface AttemptStatus {
  /** null if the create was refused, or the task was adopted. */
  readonly taskId: string | null;
  readonly startedAt: EpochMs;
  /** null while it is in flight. */
  readonly endedAt: EpochMs | null;
  /** The state in which the attempt ended. */
  readonly state: UpgradeState;
  readonly reason: string;
}

/** The attempts of an upgrade that are still stored, oldest first. */
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
