import { isSameBuild } from '../base/build-version.ts';
import { describeFailure, type ServiceFailure } from '../rollout/failure-classes.ts';
import { freezeRollback } from '../rollout/freeze-rollback.ts';
import type { LeftBehind } from '../rollout/left-behind.ts';
import type { Rollout, RolloutView } from '../rollout/rollout.ts';
import type { Upgrade } from '../rollout/upgrade.ts';
import { type ChangeRolloutParts, changeRollout, saveRolloutFact } from './change-rollout.ts';
import { type ChangeUpgradeParts, recordFacts } from './change-upgrade.ts';
import { leftBehindBy, partUpgraded } from './left-behind.ts';
import { listAllUpgrades } from './list-all-upgrades.ts';
import { loadRolloutSummary } from './load-view.ts';
import { nextRolloutId } from './next-rollout-id.ts';
import type { FleetService } from './ports/fleet-service.ts';
import type { Fence } from './ports/leader-lease.ts';
import { claimedByOthers } from './read-plan.ts';

export interface RollbackParts extends ChangeRolloutParts, ChangeUpgradeParts {
  readonly fleet: FleetService;
  /** Names of all policies of the config. */
  readonly policies: readonly string[];
}

/**
 * Begins the rollback of a rollout whose upgrades have all ended: a rollout of its own that takes each collector that
 * runs the build back to the one it had before, where the service still offers that (DESIGN §4, Rollback). Its id is
 * written down first, so that a crash in between neither forgets nor doubles it.
 */
export async function beginRollback(
  parts: RollbackParts,
  view: RolloutView,
  signal: AbortSignal,
): Promise<'done' | 'again'> {
  const { store, clock, fleet } = parts;
  const { rollout } = view;
  const builds = await fleet.listBuilds(signal);
  if (!builds.ok) return failed(parts, rollout, builds.failure);
  const inventory = await fleet.readInventory(null, signal);
  if (!inventory.ok) return failed(parts, rollout, inventory.failure);
  const collectors = new Map(inventory.value.collectors.map((collector) => [collector.id, collector]));
  // By id: one may go from the first list to the second between the two readings.
  const upgraded = new Map<number, Upgrade>();
  for (const state of ['succeeded', 'unconfirmed'] as const) {
    for (const upgrade of await listAllUpgrades(store, rollout.id, { state }))
      upgraded.set(upgrade.collectorId, upgrade);
  }
  const runsIt = [...upgraded.values()].filter(({ collectorId, toBuild }) =>
    isSameBuild(collectors.get(collectorId)?.build ?? '', toBuild),
  );
  const of = { policy: rollout.policy.name, policies: parts.policies };
  const claimed = await claimedByOthers(store, of, inventory.value);
  const { takenBack, left } = partUpgraded(runsIt, { builds: builds.value, claimed });
  const leftWords = left.map(({ count, reason }) => `; ${count} can't be: ${reason}`).join('');
  if (takenBack.length === 0) {
    const reason = `no collector could be taken back${leftWords}`;
    await changeRollout(parts, rollout.id, 'daemon', (current) =>
      current.rollout.state === 'rollingBack'
        ? { kind: 'rolledBack', at: clock.now(), reason, left }
        : undefined,
    );
    return 'done';
  }
  const id = rollout.rollbackId ?? (await nextRolloutId(store, rollout.policy.name, clock.now()));
  let named: string | null = id;
  await changeRollout(parts, rollout.id, 'daemon', (current) => {
    named = current.rollout.rollbackId ?? (current.rollout.state === 'rollingBack' ? id : null);
    if (current.rollout.rollbackId !== null || named === null) return undefined;
    return { kind: 'rollbackNamed', at: clock.now(), rollbackId: named, left };
  });
  if (named === null) return 'done';
  const origin = {
    id: named,
    startedBy: rollout.id,
    createdAt: clock.now(),
    fleet: inventory.value,
    accountMarks: rollout.accountMarks,
  };
  const frozen = freezeRollback(rollout, { takenBack, left }, collectors, origin);
  const event = {
    at: clock.now(),
    event: 'rollout.planned',
    policy: rollout.policy.name,
    rollout: named,
    reason: `rollback of ${rollout.id}: ${takenBack.length} collectors${leftWords}`,
    by: 'daemon',
  } as const;
  // Another rollback has the policy's place: the inventory is not read again at once.
  if ((await store.freeze({ ...frozen, events: [event] })) === 'busy') return 'again';
  parts.sink.tell(event);
  parts.bell.ring();
  return 'done';
}

/**
 * Marks what the rollback took back, and ends the rollout with whom it has not. Nothing is stored when the rollout has
 * changed since this was decided, or another leads: the next decision asks for it again.
 */
export async function endRollback(
  parts: RollbackParts,
  view: RolloutView,
  { reason, fence }: { readonly reason: string; readonly fence: Fence },
  signal: AbortSignal,
): Promise<'done' | 'again'> {
  const { rollout, rollback } = view;
  const left = rollback === null ? [] : await markTakenBack(parts, rollout, { rollback, fence }, signal);
  if (signal.aborted) return 'again';
  const fact = { kind: 'rolledBack', at: parts.clock.now(), reason, left } as const;
  await saveRolloutFact(parts, rollout, fact, 'daemon', fence);
  return 'done';
}

/** @returns whom the rollback has not taken back */
async function markTakenBack(
  parts: RollbackParts,
  rollout: Rollout,
  { rollback, fence }: { readonly rollback: Pick<Rollout, 'id'>; readonly fence: Fence },
  signal: AbortSignal,
): Promise<readonly LeftBehind[]> {
  const takenBack = await listAllUpgrades(parts.store, rollback.id, { state: 'succeeded' });
  const builds = new Map(takenBack.map(({ collectorId, toBuild }) => [collectorId, toBuild]));
  const { upgrades } = await parts.store.loadUpgrades(rollout.id, [...builds.keys()]);
  const at = parts.clock.now();
  const news = upgrades.map((upgrade) => {
    const reason = `taken back to ${builds.get(upgrade.collectorId) ?? ''} by ${rollback.id}`;
    return { upgrade, fact: { kind: 'rolledBack', at, reason } as const };
  });
  await recordFacts(parts, rollout, news, { rolloutRev: rollout.rev, fence }, signal);
  const ended = await loadRolloutSummary(parts, rollback.id, parts.clock.now());
  return ended === undefined ? [] : leftBehindBy(parts.store, ended);
}

function failed(parts: RollbackParts, rollout: Rollout, failure: ServiceFailure): 'again' {
  const reason = `the rollback could not be planned: ${describeFailure(failure)}`;
  parts.sink.note({ event: 'look.failed', rollout: rollout.id, reason });
  return 'again';
}
