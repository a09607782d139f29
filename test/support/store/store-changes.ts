import type {
  FrozenPlan,
  RolloutStore,
  UpgradeChange,
} from '../../../src/orchestrator/ports/rollout-store.ts';
import type { RolloutEvent } from '../../../src/rollout/model/events.ts';
import type { PlanGroups } from '../../../src/rollout/model/plan-groups.ts';
import type { Rollout, StoredView, WaveState } from '../../../src/rollout/model/rollout.ts';
import {
  isFailed,
  type Upgrade,
  type UpgradeProgress,
  type UpgradeState,
} from '../../../src/rollout/model/upgrade.ts';
import {
  anUpgrade,
  anUpgradingOne,
  aRollout,
  aWave,
  because,
  changedRollout,
  type RolloutChanges,
  someGroups,
  startedAt,
  type UpgradeFigures,
} from '../builders.ts';
import {
  aDeferredOne,
  anEndedOne,
  aQueuedOne,
  aRetryingOne,
  aStartingOne,
  aVerifyingOne,
} from '../upgrade-cases.ts';

const rolloutId = 'production-20260302-1';

/** Records from collector 1 on, in plan order, with names that are hard on a format. */
export function pendingOnes(
  count: number,
  changes: Partial<UpgradeFigures> | ((index: number) => Partial<UpgradeFigures>) = {},
): readonly Upgrade[] {
  return range(count).map((id) => {
    const own = typeof changes === 'function' ? changes(id - 1) : changes;
    return anUpgrade(
      { state: 'pending' },
      { collectorId: id, order: id, collectorName: `näme "${id}" {"lane":9}`, ...own },
    );
  });
}

/** A plan with groups and events that most tests need none of. */
export function aPlan(upgrades: readonly Upgrade[], changes: Partial<FrozenPlan> = {}): FrozenPlan {
  return { rollout: aRollout(), upgrades, groups: someGroups(), events: [], ...changes };
}

/** The next revision of a rollout, as it is saved. */
export function rolloutChange(rollout: Rollout, changes: RolloutChanges) {
  const next = { ...changedRollout(rollout, changes), rev: rollout.rev + 1 };
  return { rollout: next, expectedRev: rollout.rev, events: [], brake: 'keep' } as const;
}

/** undefined where the rollout does not have it */
export async function findUpgrade(
  store: Pick<RolloutStore, 'loadUpgrades'>,
  collectorId: number,
  id = rolloutId,
): Promise<Upgrade | undefined> {
  return (await store.loadUpgrades(id, [collectorId])).upgrades[0];
}

/** Saves one change as a step does. */
export async function saveUpgrade(
  store: Pick<RolloutStore, 'saveUpgrades'>,
  change: UpgradeChange,
  brakeAbove: number | null = null,
): Promise<'saved' | 'stale'> {
  const { rolloutId: id } = change.after.identity;
  const { length } = await store.saveUpgrades(id, [{ ...change, brakeAbove }], {});
  return length > 0 ? 'saved' : 'stale';
}

/** @throws where it is not there */
export async function loadUpgrade(store: RolloutStore, collectorId: number): Promise<Upgrade> {
  const upgrade = await findUpgrade(store, collectorId);
  if (upgrade === undefined) throw new Error(`there is no collector ${collectorId}`);
  return upgrade;
}

/** @throws where there is no rollout */
export async function loadView(
  store: RolloutStore,
  at: Partial<Parameters<RolloutStore['loadView']>[1]> = {},
): Promise<StoredView> {
  const now = { now: startedAt, overdueBefore: startedAt, pageSize: 100 };
  const view = await store.loadView(rolloutId, { ...now, ...at });
  if (view === undefined) throw new Error('there is no rollout');
  return view;
}

/** From 1 to count. */
export function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** The next record of a collector, with the event that tells of it a minute after the start. */
export function changeTo(before: Upgrade, progress: UpgradeProgress, at = startedAt + 60_000): UpgradeChange {
  const after = { ...before, progress, rev: before.rev + 1 };
  return { before, after, events: [anEvent(`upgrade.${progress.state}`, at)] };
}

export function admitted(before: Upgrade): UpgradeChange {
  return changeTo(before, { state: 'queued', dueAt: startedAt, freshAt: startedAt, startBy: null });
}

export function intended(before: Upgrade): UpgradeChange {
  return changeTo(before, { state: 'starting', sentAt: startedAt, dueAt: startedAt, startBy: null });
}

export function ended(
  before: Upgrade,
  state: 'failed' | 'unconfirmed' | 'succeeded' | 'withdrawn',
  weight: number,
): UpgradeChange {
  return changeTo(before, {
    state,
    endedAt: startedAt + 60_000,
    reason: because(''),
    weight,
    lost: weight > 1,
  });
}

/** Progress of any state; all its instants are the one given, or have long passed. */
export function anyProgress(state: UpgradeState, instant: number): UpgradeProgress {
  const due = { dueAt: instant, startedAt: 0 };
  switch (state) {
    case 'pending':
      return { state };
    case 'queued':
      return aQueuedOne({ dueAt: instant, freshAt: 0 }).progress;
    case 'starting':
      return aStartingOne({ dueAt: instant, sentAt: instant }).progress;
    case 'upgrading':
      return anUpgradingOne({ ...due, polledAt: 0, deadlineAt: 9 }).progress;
    case 'verifying':
      return aVerifyingOne({ ...due, verifyBy: 9, endedServiceAt: null }).progress;
    case 'retrying':
      return aRetryingOne(instant, 'again').progress;
    case 'deferred':
      return aDeferredOne({ since: 0, dueAt: instant, reason: because('asleep') }).progress;
    case 'withdrawn':
      return anEndedOne(state, { endedAt: instant, ...(instant % 2 === 1 && { onBuild: true }) }).progress;
    case 'unconfirmed':
      return anEndedOne(state, { endedAt: instant, weight: 3, lost: true }).progress;
    default:
      // A fraction, so that sums of them have to come back to nothing.
      return anEndedOne(state, { endedAt: instant, weight: isFailed(state) ? 0.1 : 0 }).progress;
  }
}

export function anEvent(event: RolloutEvent['event'], at = startedAt): RolloutEvent {
  return { at, event, policy: 'production', rollout: rolloutId, reason: 'a "reason"', by: 'daemon' };
}

export function rolloutWith(...states: readonly WaveState[]): Rollout {
  return aRollout({ waves: states.map((state) => aWave({ state })) });
}

/** One stratum, and so many lanes. */
export function lanes(count: number): PlanGroups {
  const one = { stratum: 0, timeZone: '', domains: [] };
  return someGroups({ lanes: Array.from({ length: count }, () => one) });
}
