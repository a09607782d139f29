import type { Clock } from '../../base/time.ts';
import type { CollectorHold } from '../../contract/admin/holds.ts';
import type { Action } from '../../rollout/decision/decision.ts';
import type { RolloutView } from '../../rollout/model/rollout.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import type { UpgradeFact } from '../../rollout/upgrade/facts.ts';
import type { FleetRegister } from '../ports/fleet-register.ts';
import type { Fence, StepQueue } from '../ports/leader.ts';
import { changeOf, type RecordParts, recordFacts } from '../records/change-upgrade.ts';
import type { Observations } from '../watch/observations.ts';

export interface AdmitParts extends RecordParts {
  readonly register: Pick<FleetRegister, 'holdsOf'>;
  readonly clock: Clock;
  readonly queue: StepQueue;
  readonly observations: Observations;
}

export type Admitted = 'changed' | 'stale';

/** Gives free slots to collectors in one atomic write, and a job to each admitted one. `stale`: the view is outdated. */
export async function admitCollectors(
  parts: AdmitParts,
  view: RolloutView,
  fence: Fence,
  { picks, slots, paceMs }: Extract<Action, { do: 'admit' }>,
): Promise<Admitted> {
  const { rollout } = view;
  const at = parts.clock.now();
  const startBy = new Map(picks.map((pick) => [pick.collectorId, pick.startBy]));
  const ids = [...startBy.keys()];
  // In parallel, because a free slot waits for both.
  const [holds, { upgrades }] = await Promise.all([
    parts.register.holdsOf(ids),
    parts.store.loadUpgrades(rollout.id, ids),
  ]);
  const strays = strayRetries(view, ids, upgrades);
  if (strays.length > 0) {
    await parts.store.dropStrayRetries(rollout.id, strays);
    return 'stale';
  }
  const wasWithdrawn = await withdrawHeld(parts, view, fence, { holds, picked: upgrades });
  if (wasWithdrawn) return 'changed';
  const trustedSince = parts.trustedSince();
  const changes = upgrades
    .map((before) => {
      const { collectorId } = before.identity;
      const fact: UpgradeFact = {
        ...{ kind: 'admitted', at, trustedSince },
        startBy: startBy.get(collectorId) ?? null,
        seen: parts.observations.find(collectorId, at),
        changes: rollout.config.changes,
        paceMs,
      };
      return changeOf(parts, rollout, before, fact);
    })
    .filter((change) => change.after !== change.before);
  if (changes.length === 0) return 'stale';
  const { domains } = view.groups;
  const admission = { rolloutId: rollout.id, rolloutRev: rollout.rev, slots, domains, changes };
  const admitted = new Set(await parts.store.admit(admission, fence));
  // A crash here leaves admitted collectors without a job. Their steps become overdue, and are delivered then.
  await parts.queue.deliver(rollout.id, [...admitted]);
  for (const { after, events } of changes) {
    if (admitted.has(after.identity.collectorId)) for (const event of events) parts.sink.report(event);
  }
  return admitted.size === 0 ? 'stale' : 'changed';
}

/** Picked retries that do not fit their records. Admitting them again and again would change nothing. */
function strayRetries(
  { candidates }: RolloutView,
  ids: readonly number[],
  upgrades: readonly Upgrade[],
): ReadonlyArray<{ readonly collectorId: number; readonly lane: number }> {
  const picked = new Set(ids);
  const records = new Map(upgrades.map((upgrade) => [upgrade.identity.collectorId, upgrade]));
  return candidates.flatMap(({ lane, retries }) =>
    retries.flatMap(({ collectorId }) => {
      if (!picked.has(collectorId)) return [];
      const record = records.get(collectorId);
      const fits = record?.progress.state === 'retrying' && record.identity.lane === lane;
      return fits ? [] : [{ collectorId, lane }];
    }),
  );
}

/** Collectors that an operator holds leave the rollout when their turn comes (P5). */
async function withdrawHeld(
  parts: AdmitParts,
  view: RolloutView,
  fence: Fence,
  { holds, picked }: { readonly holds: readonly CollectorHold[]; readonly picked: readonly Upgrade[] },
): Promise<boolean> {
  const held = new Map(holds.map((hold) => [hold.collectorId, hold]));
  const findings = picked.flatMap((upgrade) => {
    const hold = held.get(upgrade.identity.collectorId);
    if (hold === undefined) return [];
    const reason = { kind: 'collectorHeld', by: hold.by, words: hold.reason } as const;
    return [{ upgrade, fact: { kind: 'withdrawn', at: parts.clock.now(), reason } as const }];
  });
  return (await recordFacts(parts, view.rollout, findings, { fence })).length > 0;
}
