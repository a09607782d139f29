import type { RolloutStore, UpgradeChange } from '../../src/orchestrator/ports.ts';
import type { RolloutEvent } from '../../src/rollout/events.ts';
import { emptyCounts } from '../../src/rollout/gate.ts';
import type { Rollout, RolloutView, WaveSummary } from '../../src/rollout/rollout.ts';
import { dueAtOf, holdsSlot, isEnd, isLost, type Upgrade, weightOf } from '../../src/rollout/upgrade.ts';

interface Kept {
  rollout: Rollout;
  readonly upgrades: Map<number, Upgrade>;
  readonly events: RolloutEvent[];
  readonly changedAt: Map<number, number>;
  brake: boolean;
}

/** A model of the store: the same answers as the one in Redis, in memory, for virtual time. */
export function makeMemoryRolloutStore(now: () => number): RolloutStore {
  const kept = new Map<string, Kept>();
  const active = new Map<string, string>();
  const numbers = new Map<string, number>();
  let highestFence = 0;

  const admitFence = (fence: number | null): boolean => {
    if (fence === null) return true;
    if (fence < highestFence) return false;
    highestFence = fence;
    return true;
  };
  const isCurrent = (of: Kept, { before }: UpgradeChange) =>
    of.upgrades.get(before.collectorId)?.rev === before.rev;
  const apply = (of: Kept, { before, after, events }: UpgradeChange) => {
    of.upgrades.set(after.collectorId, after);
    of.events.push(...events);
    if (before.state !== after.state) of.changedAt.set(after.wave, now());
  };
  const summaries = (of: Kept): WaveSummary[] =>
    of.rollout.waves.map((_, wave) => {
      const counts = emptyCounts();
      let weight = 0;
      let lost = 0;
      for (const upgrade of of.upgrades.values()) {
        if (upgrade.wave !== wave) continue;
        counts[upgrade.state] += 1;
        weight += weightOf(upgrade);
        if (isLost(upgrade)) lost += 1;
      }
      return { counts, weight, lost, lastChangeAt: of.changedAt.get(wave) ?? null };
    });
  const slots = (of: Kept) => [...of.upgrades.values()].filter(({ state }) => holdsSlot(state)).length;
  const byDue = (a: Upgrade, b: Upgrade) => (dueAtOf(a) ?? 0) - (dueAtOf(b) ?? 0);

  return {
    activeRolloutIds: async (policies) => policies.flatMap((policy) => active.get(policy) ?? []),
    listRollouts: async (policies) =>
      [...kept.values()]
        .map(({ rollout }) => rollout)
        .filter(({ policy }) => policies.includes(policy.name))
        .reverse(),
    loadRollout: async (id) => kept.get(id)?.rollout,
    nextRolloutNumber: async (policy, day) => {
      const key = `${policy}/${day}`;
      numbers.set(key, (numbers.get(key) ?? 0) + 1);
      return numbers.get(key) ?? 1;
    },
    freeze: async (rollout, upgrades, events) => {
      if (active.has(rollout.policy.name)) return 'busy';
      active.set(rollout.policy.name, rollout.id);
      kept.set(rollout.id, {
        rollout,
        upgrades: new Map(upgrades.map((upgrade) => [upgrade.collectorId, upgrade])),
        events: [...events],
        changedAt: new Map(),
        brake: false,
      });
      return 'frozen';
    },
    loadView: async (id, at) => {
      const of = kept.get(id);
      if (of === undefined) return undefined;
      const all = [...of.upgrades.values()];
      const pending = all.filter(({ state }) => state === 'pending').sort((a, b) => a.order - b.order);
      const retrying = all.filter(({ state }) => state === 'retrying').sort(byDue);
      const wave = pending.length === 0 ? undefined : Math.min(...pending.map((upgrade) => upgrade.wave));
      const view: RolloutView = {
        rollout: of.rollout,
        waves: summaries(of),
        slotsTaken: slots(of),
        retriesDue: retrying
          .filter((u) => (dueAtOf(u) ?? 0) <= at.now)
          .map((u) => u.collectorId)
          .slice(0, at.pageSize),
        nextRetryAt: retrying.map((u) => dueAtOf(u) ?? 0).find((due) => due > at.now) ?? null,
        candidates:
          wave === undefined
            ? null
            : {
                wave,
                collectorIds: pending
                  .filter((u) => u.wave === wave)
                  .map((u) => u.collectorId)
                  .slice(0, at.pageSize),
              },
        overdue: all
          .filter(
            (u) => u.state !== 'retrying' && (dueAtOf(u) ?? Number.POSITIVE_INFINITY) < at.overdueBefore,
          )
          .map((u) => u.collectorId)
          .slice(0, at.pageSize),
        braked: of.brake,
        learned: { count: 0, meanMs: 0 },
      };
      return view;
    },
    saveRollout: async ({ rollout, expectedRev, events, brake }, fence) => {
      const of = kept.get(rollout.id);
      if (of === undefined || of.rollout.rev !== expectedRev || !admitFence(fence)) return 'stale';
      of.rollout = rollout;
      of.events.push(...events);
      if (brake !== 'keep') of.brake = brake === 'set';
      if (rollout.endedAt !== null) active.delete(rollout.policy.name);
      return 'saved';
    },
    loadUpgrade: async (id, collectorId) => kept.get(id)?.upgrades.get(collectorId),
    loadUpgrades: async (id, collectorIds) =>
      collectorIds.flatMap((each) => kept.get(id)?.upgrades.get(each) ?? []),
    listUpgrades: async (id, page) =>
      [...(kept.get(id)?.upgrades.values() ?? [])]
        .filter(({ state }) => page.state === undefined || state === page.state)
        .sort((a, b) => a.order - b.order)
        .slice(page.offset, page.offset + page.limit),
    admit: async ({ rolloutId, rolloutRev, slots: limit, changes }, fence) => {
      const of = kept.get(rolloutId);
      if (of === undefined || of.rollout.rev !== rolloutRev || of.rollout.state !== 'running') return [];
      if (of.brake || !admitFence(fence)) return [];
      const admitted: number[] = [];
      for (const change of changes) {
        if (slots(of) >= limit) break;
        if (!isCurrent(of, change)) continue;
        apply(of, change);
        admitted.push(change.after.collectorId);
      }
      return admitted;
    },
    saveUpgrade: async (change, tripAbove) => {
      const of = kept.get(change.after.rolloutId);
      if (of === undefined || !isCurrent(of, change)) return 'stale';
      apply(of, change);
      const weight = summaries(of)[change.after.wave]?.weight ?? 0;
      if (tripAbove !== null && isEnd(change.after.state) && weight > tripAbove) of.brake = true;
      return 'saved';
    },
    saveIntent: async (change) => {
      const of = kept.get(change.after.rolloutId);
      if (of === undefined || !isCurrent(of, change)) return 'stale';
      if (of.brake || of.rollout.state !== 'running') return 'braked';
      apply(of, change);
      return 'saved';
    },
    countFreshIntents: async (id, since) =>
      [...(kept.get(id)?.upgrades.values() ?? [])].filter((u) => u.state === 'starting' && u.sentAt >= since)
        .length,
    readEvents: async (id, { limit }) => (kept.get(id)?.events ?? []).slice(-limit).reverse(),
  };
}
