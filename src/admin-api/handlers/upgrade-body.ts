import type { UpgradeBody } from '../../contract/admin/rollout-status.ts';
import { dueAtOf, type Upgrade } from '../../rollout/model/upgrade.ts';
import type { RolloutStatus } from '../../rollout/status/status.ts';

/** One collector's record as our API tells it: flat, with its wave by name. */
export function encodeUpgrade(upgrade: Upgrade, status: RolloutStatus): UpgradeBody {
  return {
    collectorId: upgrade.collectorId,
    collectorName: upgrade.collectorName,
    wave: status.waves[upgrade.wave]?.name ?? String(upgrade.wave),
    order: upgrade.order,
    state: upgrade.state,
    reason: ('reason' in upgrade ? upgrade.reason : undefined) ?? null,
    fromBuild: upgrade.fromBuild,
    toBuild: upgrade.toBuild,
    attempts: upgrade.attempts,
    taskId: 'taskId' in upgrade ? upgrade.taskId : null,
    startedAt: upgrade.firstStartedAt ?? null,
    dueAt: dueAtOf(upgrade) ?? null,
    endedAt: 'endedAt' in upgrade ? upgrade.endedAt : null,
    failureClass: ('failureClass' in upgrade ? upgrade.failureClass : undefined) ?? null,
  };
}
