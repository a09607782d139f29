import type { AttemptStatus } from '../../contract/admin/collector-explanation.ts';
import type { AttemptResult } from '../../contract/admin/rollout-status.ts';
import { upgradeReasonText } from '../messages/upgrade-reasons.ts';
import { reasonOf, type Upgrade } from '../model/upgrade.ts';
import { endedAtOf } from '../model/upgrade-figures.ts';
import type { UpgradeReason } from '../model/upgrade-reason.ts';

/** The attempts of an upgrade that are still stored, oldest first. */
export function attemptsOf(upgrade: Upgrade): readonly AttemptStatus[] {
  return endsOf(upgrade).map(({ reason, ...attempt }) => ({
    ...attempt,
    reason: reason === undefined ? '' : upgradeReasonText(reason),
  }));
}

/** The same as data, with what happened in each attempt itself. */
export function attemptResultsOf(upgrade: Upgrade): readonly AttemptResult[] {
  return endsOf(upgrade).map(({ startedAt, endedAt, state, reason }) => {
    const own = reason && ownReason(reason);
    return {
      ...{ startedAt, endedAt, state, reasonKind: own?.kind ?? null },
      detail: (own && detailOf(own)) ?? null,
      silentMs: own?.kind === 'died' ? own.silentMs : null,
    };
  });
}

function endsOf(upgrade: Upgrade) {
  return (upgrade.tally.tasks ?? []).map(({ taskId, startedAt, ended }) => ({
    taskId,
    startedAt,
    endedAt: ended?.at ?? endedAtOf(upgrade),
    state: ended?.state ?? upgrade.progress.state,
    reason: ended === undefined ? reasonOf(upgrade) : ended.reason,
  }));
}

/** Without the number of the attempt, or that it is the second one. */
function ownReason(reason: UpgradeReason): UpgradeReason {
  return 'last' in reason ? ownReason(reason.last) : reason;
}

function detailOf(reason: UpgradeReason): string | undefined {
  if (reason.kind === 'task') return reason.message;
  return reason.kind === 'service' || reason.kind === 'buildRefused' ? reason.detail : undefined;
}
