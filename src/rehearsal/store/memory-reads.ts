import { candidatesPerView, perLaneMin, type RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import { hasBegun } from '../../rollout/decision/assess.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import { isEnd, isFailed, type Upgrade } from '../../rollout/model/upgrade.ts';
import { byName } from './memory-queues.ts';
import { activeKey, type MemoryState } from './memory-state.ts';

/** Reads rollouts in the model of the store. */
export function makeRolloutReads({ kept, active, numbers, now: storeNow }: MemoryState) {
  const listOf = (policies: readonly string[]): readonly Rollout[] =>
    [...kept.values()]
      .map(({ rollout }) => rollout)
      .filter(({ id }) => policies.includes(parseRolloutId(id).policy))
      .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
  const activeRolloutIds = async (policies: readonly string[]) =>
    policies.flatMap((policy) =>
      (['upgrade', 'rollback'] as const).flatMap((kind) => active.get(activeKey(policy, kind)) ?? []),
    );

  return {
    activeRolloutIds,
    findUpgradesOf: async (policies, collectorId) =>
      (await activeRolloutIds(policies)).flatMap((rolloutId) => {
        const upgrade = kept.get(rolloutId)?.upgrades.get(collectorId);
        return upgrade === undefined ? [] : [{ rolloutId, upgrade }];
      }),
    currentRollouts: async (policies) => {
      const ids = new Set<string>();
      for (const policy of policies) {
        const all = listOf([policy]);
        const isActive = ({ id }: Rollout) => [...active.values()].includes(id);
        const last = all.find((rollout) => !isActive(rollout));
        for (const { id, rollback } of [...all.filter(isActive), ...(last ? [last] : [])])
          for (const each of [id, rollback.startedAs, rollback.original]) if (each !== null) ids.add(each);
      }
      return listOf(policies).filter(({ id }) => ids.has(id));
    },
    pageRollouts: async (policies, { before, limit }) => {
      const all = listOf(policies);
      const from = before === undefined ? 0 : all.findIndex(({ id }) => id === before) + 1;
      if (before !== undefined && from === 0) return undefined;
      const rollouts = all.slice(from, from + limit);
      return { rollouts, next: from + limit < all.length ? (rollouts.at(-1)?.id ?? null) : null };
    },
    listRollouts: async (policies) => listOf(policies),
    loadRollout: async (id) => kept.get(id)?.rollout,
    nextRolloutNumber: async (policy, day) => (numbers.get(`${policy}/${day}`) ?? 0) + 1,
    loadGroups: async (id) => kept.get(id)?.groups,
    loadAttributes: async (id) => kept.get(id)?.attributes,
    loadView: async (id, { now, overdueBefore, pageSize }) => {
      const record = kept.get(id);
      if (record === undefined) return undefined;
      const { rollout, groups, counts, queues } = record;
      const share = Math.floor(candidatesPerView / Math.max(1, groups.lanes.length));
      const free = rollout.policy.concurrency - counts.slotsTaken;
      const perLane = Math.min(pageSize, Math.max(perLaneMin, Math.min(share, free)));
      const frontier = rollout.waves.findLastIndex(hasBegun);
      return {
        rollout,
        groups,
        braked: record.brake,
        pacedForMs: Math.max(0, counts.pacedUntil - storeNow()),
        ...counts.show(rollout.waves.length),
        ...queues.candidates({ now, frontier, perLane }),
        overdue: queues.overdue(overdueBefore).slice(0, pageSize),
      };
    },
    readEvents: async (id, { limit }) =>
      limit <= 0 ? [] : (kept.get(id)?.events ?? []).slice(-limit).reverse(),
  } satisfies Partial<RolloutStore>;
}

/** Reads upgrades in the model of the store. */
export function makeUpgradeReads({ kept, now }: MemoryState) {
  const upgradesOf = (id: string): readonly Upgrade[] => [...(kept.get(id)?.upgrades.values() ?? [])];

  return {
    loadUpgrades: async (id, collectorIds) => {
      const upgrades = kept.get(id)?.upgrades;
      return { upgrades: collectorIds.flatMap((each) => upgrades?.get(each) ?? []), unreadable: [] };
    },
    findNamed: async (id, name) =>
      upgradesOf(id)
        .filter(({ identity: { collectorName } }) => collectorName === name)
        .sort((a, b) => a.identity.collectorId - b.identity.collectorId),
    listMemberIds: async (id) => [...(kept.get(id)?.upgrades.keys() ?? [])],
    listOutcomes: async (id) => {
      const idsIn = (isIn: (state: Upgrade['progress']['state']) => boolean) =>
        new Set(
          upgradesOf(id).flatMap(({ identity, progress }) =>
            isIn(progress.state) ? [identity.collectorId] : [],
          ),
        );
      const isUpgraded = (state: Upgrade['progress']['state']) =>
        isEnd(state) && !isFailed(state) && state !== 'withdrawn';
      return { failed: idsIn(isFailed), succeeded: idsIn(isUpgraded) };
    },
    listUpgrades: async (id, { offset, limit, state, wave }) => {
      const all =
        state === 'pending'
          ? (kept.get(id)?.queues.pending() ?? [])
          : upgradesOf(id).toSorted((a, b) => a.identity.order - b.identity.order);
      return all
        .filter(
          ({ progress, identity }) =>
            (state ?? progress.state) === progress.state && (wave ?? identity.wave) === identity.wave,
        )
        .slice(offset, offset + limit);
    },
    listMissed: async (id, { kind, limit }) =>
      upgradesOf(id)
        .filter(({ progress: { state } }) => (kind === 'failed' ? isFailed(state) : state === kind))
        .sort((a, b) => missedOrder(a) - missedOrder(b) || (kind === 'failed' ? byName(b, a) : byName(a, b)))
        .slice(0, Math.max(0, limit)),
    listDue: async (id, limit) => {
      const { queues, upgrades } = kept.get(id) ?? {};
      const ids = queues?.overdue(Number.POSITIVE_INFINITY).slice(0, Math.max(0, limit)) ?? [];
      return ids.flatMap((each) => upgrades?.get(each) ?? []);
    },
    countFreshIntents: async (id, withinMs) =>
      [...(kept.get(id)?.intents.values() ?? [])].filter((at) => at >= now() - withinMs).length,
  } satisfies Partial<RolloutStore>;
}

/** Those that ended last, and retries that are due first, come first. */
function missedOrder(upgrade: Upgrade): number {
  if ('endedAt' in upgrade.progress) return -upgrade.progress.endedAt;
  return upgrade.progress.state === 'retrying' ? upgrade.progress.dueAt : 0;
}
