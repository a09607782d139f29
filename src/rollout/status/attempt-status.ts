import type { AttemptStatus } from '../../contract/admin/collector-explanation.ts';
import { upgradeReasonText } from '../messages/upgrade-reasons.ts';
import { reasonOf, type Upgrade } from '../model/upgrade.ts';
import { endedAtOf } from '../model/upgrade-figures.ts';

/** The attempts of an upgrade that are still stored, oldest first. */
export function attemptsOf(upgrade: Upgrade): readonly AttemptStatus[] {
  return (upgrade.tally.tasks ?? []).map(({ taskId, startedAt, ended }) => {
    const reason = ended === undefined ? reasonOf(upgrade) : ended.reason;
    return {
      taskId,
      startedAt,
      endedAt: ended?.at ?? endedAtOf(upgrade),
      state: ended?.state ?? upgrade.progress.state,
      reason: reason === undefined ? '' : upgradeReasonText(reason),
    };
  });
}
