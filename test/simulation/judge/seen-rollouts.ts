import type { FrozenPlan, UpgradeChange } from '../../../src/orchestrator/ports/rollout-store.ts';
import {
  type AttributeTable,
  joinTables,
  membersWith,
  parseAttributes,
} from '../../../src/rollout/model/attributes.ts';
import type { PlanGroups } from '../../../src/rollout/model/plan-groups.ts';
import type { Policy } from '../../../src/rollout/model/policy.ts';
import type { Rollout } from '../../../src/rollout/model/rollout.ts';
import { isEnd, isFailed, isOnBuild, type Upgrade, weightOf } from '../../../src/rollout/model/upgrade.ts';
import type { Account } from '../world/process-model.ts';

/** A rollout as its writes to the store were seen, with instants of true time. */
export interface SeenRollout {
  rollout: Rollout;
  groups: PlanGroups;
  upgrades: Map<number, Upgrade>;
  attributes: AttributeTable | undefined;
  readonly frozenAt: number;
  /** Of the daemon that planned it. */
  readonly account: Account;
  /** Since when it is in its state. */
  stateSince: number;
  readonly strataHeldSince: Map<number, number>;
  /** The same of groups that are held for what they share, by their names. */
  readonly groupsHeldSince: Map<string, number>;
  readonly lastSuccessAt: Map<number, number>;
  readonly lastFailureAt: Map<number, number>;
  /** When somebody of the wave came back from an end or from being deferred. */
  readonly lastReturnAt: Map<number, number>;
  /** When the last intent of a collector was stored, and by which policy. */
  readonly lastIntents: Map<number, { readonly at: number; readonly policy: Policy }>;
  /** Successes by stratum. */
  readonly successes: Map<number, number>;
  /** An operator has accepted failures, or wants failed ones tried again. */
  isForgiven: boolean;
  /** Somebody wants failed ones tried again, or released a stratum: what is acknowledged is not known here any more. */
  isLimitUnknown: boolean;
  /** By wave: the weighted failures at the last resume, which no longer count. */
  acknowledged: readonly number[];
  /** Somebody spoke, or it stopped: its estimate is no longer measured. */
  isDisturbed: boolean;
  readonly soaksSkipped: Set<number>;
  /** What somebody asked for by name: `plan 7f3a`, `wave rest`, `hold 17` (P15). */
  readonly asked: Set<string>;
  /** Verbs that were not answered yet. */
  asksOpen: number;
  /** The end that was estimated when it was seen first. */
  estimatedEnd: number | null;
}

/** Keeps up with all rollouts. */
export interface SeenRollouts {
  readonly all: ReadonlyMap<string, SeenRollout>;
  /** What was lost with a store that was emptied. */
  readonly lost: ReadonlyMap<string, SeenRollout>;
  forget(): void;
  /** @returns brings back what is seen now, but for when intents were written */
  keep(): () => void;
  frozen(plan: FrozenPlan, account: Account): SeenRollout;
  replanned(plan: FrozenPlan): void;
  joined(plan: FrozenPlan): void;
  rolloutSaved(rollout: Rollout): { readonly seen: SeenRollout; readonly before: Rollout } | undefined;
  upgradeSaved(change: UpgradeChange): SeenRollout | undefined;
}

export function makeSeenRollouts(now: () => number): SeenRollouts {
  const all = new Map<string, SeenRollout>();
  const lost = new Map<string, SeenRollout>();
  const recordsOf = ({ upgrades }: FrozenPlan) =>
    new Map(upgrades.map((upgrade) => [upgrade.identity.collectorId, upgrade]));
  return {
    all,
    lost,
    forget: () => {
      for (const [id, seen] of all) lost.set(id, seen);
      all.clear();
    },
    keep: () => {
      const was = [...all].map(([id, seen]) => ({ id, seen, copy: copyOf(seen) }));
      return () => {
        for (const [id, seen] of all) if (!was.some((each) => each.id === id)) lost.set(id, seen);
        all.clear();
        for (const { id, seen, copy } of was) all.set(id, { ...copy, lastIntents: seen.lastIntents });
      };
    },
    frozen: (plan, account) => {
      const seen: SeenRollout = {
        rollout: plan.rollout,
        groups: plan.groups,
        upgrades: recordsOf(plan),
        attributes: plan.attributes,
        frozenAt: now(),
        account,
        stateSince: now(),
        strataHeldSince: new Map(),
        groupsHeldSince: new Map(),
        lastSuccessAt: new Map(),
        lastFailureAt: new Map(),
        lastReturnAt: new Map(),
        lastIntents: new Map(),
        successes: new Map(),
        isForgiven: false,
        isLimitUnknown: false,
        acknowledged: [],
        isDisturbed: false,
        soaksSkipped: new Set(),
        asked: new Set(),
        asksOpen: 0,
        estimatedEnd: null,
      };
      all.set(plan.rollout.id, seen);
      return seen;
    },
    replanned: (plan) => {
      const seen = all.get(plan.rollout.id);
      if (seen === undefined) return;
      seen.rollout = plan.rollout;
      seen.groups = plan.groups;
      seen.upgrades = recordsOf(plan);
      seen.attributes = plan.attributes;
      seen.strataHeldSince.clear();
    },
    joined: (plan) => {
      const seen = all.get(plan.rollout.id);
      if (seen === undefined) return;
      seen.rollout = plan.rollout;
      seen.groups = plan.groups;
      seen.attributes = joinTables([seen.attributes, plan.attributes].filter((table) => table !== undefined));
      for (const upgrade of plan.upgrades) {
        if (seen.upgrades.has(upgrade.identity.collectorId)) continue;
        seen.upgrades.set(upgrade.identity.collectorId, upgrade);
        seen.lastReturnAt.set(upgrade.identity.wave, now());
      }
      seen.isDisturbed = true;
    },
    rolloutSaved: (rollout) => {
      const seen = all.get(rollout.id);
      if (seen === undefined) return undefined;
      const before = seen.rollout;
      if (before.state !== rollout.state) seen.stateSince = now();
      for (const { stratum } of rollout.strata.held)
        if (!seen.strataHeldSince.has(stratum)) seen.strataHeldSince.set(stratum, now());
      for (const stratum of seen.strataHeldSince.keys())
        if (!rollout.strata.held.some((held) => held.stratum === stratum))
          seen.strataHeldSince.delete(stratum);
      noteGroups(seen, now());
      if (rollout.state !== 'running' && rollout.endedAt === null) seen.isDisturbed = true;
      if (rollout.strata.held.length > 0) seen.isDisturbed = true;
      // A pause is no verdict on failures.
      const wasHeld = before.state === 'held';
      // A hold that waits for something also ends by itself, and nothing is acknowledged by that.
      const isResumed = before.hold?.heldFor === undefined || seen.asked.has(`hold ${before.hold?.number}`);
      if (wasHeld && rollout.state === 'running' && isResumed)
        seen.acknowledged = rollout.waves.map((_wave, index) => weightIn(seen, index));
      seen.rollout = rollout;
      return { seen, before };
    },
    upgradeSaved: ({ before, after }) => {
      const seen = all.get(after.identity.rolloutId);
      if (seen === undefined) return undefined;
      seen.upgrades.set(after.identity.collectorId, after);
      const { wave, stratum } = after.identity;
      if (after.progress.state === 'starting' && before.progress.state === 'queued')
        seen.lastIntents.set(after.identity.collectorId, { at: now(), policy: seen.rollout.policy });
      if (after.progress.state === 'withdrawn' && isOnBuild(after))
        seen.lastSuccessAt.set(wave, after.progress.endedAt);
      if (after.progress.state === 'succeeded' && before.progress.state !== 'succeeded') {
        seen.lastSuccessAt.set(wave, after.progress.endedAt);
        seen.successes.set(stratum, (seen.successes.get(stratum) ?? 0) + 1);
      }
      if (isFailed(after.progress.state) && !isFailed(before.progress.state))
        seen.lastFailureAt.set(wave, now());
      if (
        (isEnd(before.progress.state) && !isEnd(after.progress.state)) ||
        before.progress.state === 'deferred'
      )
        seen.lastReturnAt.set(wave, now());
      return seen;
    },
  };
}

function weightIn({ upgrades }: SeenRollout, index: number): number {
  let weight = 0;
  for (const upgrade of upgrades.values()) if (upgrade.identity.wave === index) weight += weightOf(upgrade);
  return weight;
}

function copyOf(seen: SeenRollout): SeenRollout {
  return {
    ...seen,
    upgrades: new Map(seen.upgrades),
    strataHeldSince: new Map(seen.strataHeldSince),
    groupsHeldSince: new Map(seen.groupsHeldSince),
    lastSuccessAt: new Map(seen.lastSuccessAt),
    lastFailureAt: new Map(seen.lastFailureAt),
    lastReturnAt: new Map(seen.lastReturnAt),
    successes: new Map(seen.successes),
    soaksSkipped: new Set(seen.soaksSkipped),
  };
}

function noteGroups({ rollout, groupsHeldSince }: SeenRollout, at: number): void {
  const held = rollout.strata.held.filter(({ attributes }) => attributes !== undefined);
  for (const { label } of held) if (!groupsHeldSince.has(label)) groupsHeldSince.set(label, at);
  for (const label of groupsHeldSince.keys())
    if (!held.some((each) => each.label === label)) groupsHeldSince.delete(label);
}

/** A group that is held, with this collector in it, for longer than so; undefined: none is. */
export function heldGroupOf(
  { attributes: table, rollout, groupsHeldSince }: SeenRollout,
  collectorId: number,
  heldBefore: number,
): string | undefined {
  if (table === undefined) return undefined;
  return rollout.strata.held.find(
    ({ label, attributes }) =>
      attributes !== undefined &&
      (groupsHeldSince.get(label) ?? Number.POSITIVE_INFINITY) < heldBefore &&
      membersWith(table, attributes).includes(collectorId),
  )?.label;
}

/** Whether the plan knows this collector as one of a group. */
export function isOfGroup({ attributes: table }: SeenRollout, collectorId: number, label: string): boolean {
  const attributes = parseAttributes(label);
  return (
    table !== undefined && attributes !== undefined && membersWith(table, attributes).includes(collectorId)
  );
}
