import type { RolloutStatus, UpgradeBody } from '../../contract/admin/rollout-status.ts';
import type { FoundUpgrades } from '../../orchestrator/operations/search-upgrades.ts';
import { upgradeReasonText } from '../../rollout/messages/upgrade-reasons.ts';
import { dueAtOf, reasonOf, type Upgrade } from '../../rollout/model/upgrade.ts';
import { attemptResultsOf } from '../../rollout/status/attempt-status.ts';

/** One collector's record in the admin API: flat, with its wave by name. @param withResults those of its attempts, too */
export function encodeUpgrade(
  upgrade: Upgrade,
  status: Pick<RolloutStatus, 'waves'>,
  placeOf: FoundUpgrades['placeOf'],
  withResults = false,
): UpgradeBody {
  const reason = reasonOf(upgrade);
  return {
    collectorId: upgrade.identity.collectorId,
    collectorName: upgrade.identity.collectorName,
    wave: status.waves[upgrade.identity.wave]?.name ?? String(upgrade.identity.wave),
    ...placeOf(upgrade.identity),
    order: upgrade.identity.order,
    state: upgrade.progress.state,
    reason: reason === undefined ? null : upgradeReasonText(reason),
    reasonKind: reason?.kind ?? null,
    fromBuild: upgrade.identity.fromBuild,
    toBuild: upgrade.identity.toBuild,
    attempts: upgrade.tally.attempts,
    taskId: 'taskId' in upgrade.progress ? upgrade.progress.taskId : null,
    startedAt: upgrade.tally.firstStartedAt ?? null,
    dueAt: dueAtOf(upgrade) ?? null,
    endedAt: 'endedAt' in upgrade.progress ? upgrade.progress.endedAt : null,
    failureClass: ('failureClass' in upgrade.progress ? upgrade.progress.failureClass : undefined) ?? null,
    ...(withResults && { results: attemptResultsOf(upgrade) }),
  };
}
