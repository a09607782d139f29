import { parseCollectorId } from '../../base/names.ts';
import type { PastUpgrade } from '../../contract/admin/collector-explanation.ts';
import { upgradeText } from '../../rollout/messages/upgrade-reasons.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { isEnd, type Upgrade } from '../../rollout/model/upgrade.ts';
import { attemptsOf } from '../../rollout/status/attempt-status.ts';
import type { PastRecord } from '../../rollout/status/explain-unplanned.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';

// Rollouts of each policy: months of nights, in a few reads.
const pastMax = 20;

/** A collector's record in one of the latest rollouts. */
export interface KeptRecord extends PastRecord {
  readonly rollout: Rollout;
}

/** The collector's record in the latest rollouts of a policy, newest first. */
export async function loadRecords(
  { store }: { readonly store: RolloutStore },
  policy: string,
  collectorId: number,
): Promise<readonly KeptRecord[]> {
  const kept = await store.pageRollouts([policy], { limit: pastMax });
  // In parallel: one round trip for all of them.
  return Promise.all(
    (kept?.rollouts ?? []).map(async (rollout) => {
      const { upgrades } = await store.loadUpgrades(rollout.id, [collectorId]);
      return { rollout, upgrade: upgrades[0] };
    }),
  );
}

/** Finds a collector by its id or exact name in the latest rollouts of these policies; undefined if none has it. */
export async function findPast(
  parts: { readonly store: RolloutStore },
  policies: readonly string[],
  idOrName: string,
): Promise<Upgrade | undefined> {
  const id = parseCollectorId(idOrName);
  const kept = await Promise.all(
    policies.map((policy) => parts.store.pageRollouts([policy], { limit: pastMax })),
  );
  const found = await Promise.all(
    kept
      .flatMap((page) => page?.rollouts ?? [])
      .map(async (rollout) =>
        id === undefined
          ? parts.store.findNamed(rollout.id, idOrName.trim())
          : (await parts.store.loadUpgrades(rollout.id, [id])).upgrades,
      ),
  );
  return found.flat()[0];
}

/** @param explained the rollout that the explanation is about. Another one is over for this collector. */
export function pastUpgrade(
  { rollout, upgrade }: KeptRecord,
  explained: string | null,
): readonly PastUpgrade[] {
  if (upgrade === undefined || rollout.id === explained) return [];
  const {
    progress: { state },
    identity: { fromBuild, toBuild },
  } = upgrade;
  if (rollout.endedAt === null && !isEnd(state)) return [];
  return [
    {
      rollout: rollout.id,
      policy: rollout.policy.name,
      kind: rollout.kind,
      state,
      fromBuild,
      toBuild,
      at: 'endedAt' in upgrade.progress ? upgrade.progress.endedAt : null,
      reason: upgradeText(upgrade),
      attempts: attemptsOf(upgrade),
    },
  ];
}
