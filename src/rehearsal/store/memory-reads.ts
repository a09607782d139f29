import type { EpochMs } from '../../base/time.ts';
import { candidatesPerView, perLaneMin, type RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import { hasBegun } from '../../rollout/decision/assess.ts';
import type { AttributeTable } from '../../rollout/model/attributes.ts';
import type { RolloutEvent } from '../../rollout/model/events.ts';
import type { PlanGroups } from '../../rollout/model/plan-groups.ts';
import type { Rollout } from '../../rollout/model/rollout.ts';
import { parseRolloutId } from '../../rollout/model/rollout-id.ts';
import { isEnd, isFailed, type Upgrade } from '../../rollout/model/upgrade.ts';
import type { MemoryTally } from './memory-tally.ts';

/** One rollout with all its records. */
export interface Kept {
  rollout: Rollout;
  groups: PlanGroups;
  attributes: AttributeTable | undefined;
  upgrades: Map<number, Upgrade>;
  tally: MemoryTally;
  readonly events: RolloutEvent[];
  brake: boolean;
  /** By collector: when its intent was stored. */
  readonly intents: Map<number, EpochMs>;
}

/** The key of a policy's active rollout of a kind. */
export function activeKey(policy: string, kind: Rollout['kind']): string {
  return `${policy}/${kind}`;
}

/** The reading methods of the model. */
// oxlint-disable-next-line max-lines-per-function -- a model in memory: its methods share one state
export function makeMemoryReads(of: {
  readonly kept: ReadonlyMap<string, Kept>;
  readonly active: ReadonlyMap<string, string>;
  readonly numbers: ReadonlyMap<string, number>;
  readonly now: () => EpochMs;
}) {
  const { kept, active, numbers, now: storeNow } = of;
  const listOf = (policies: readonly string[]): readonly Rollout[] =>
    [...kept.values()]
      .map(({ rollout }) => rollout)
      .filter(({ id }) => policies.includes(parseRolloutId(id).policy))
      .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
  const activeIds = (policies: readonly string[]): readonly string[] =>
    policies.flatMap((policy) =>
      (['upgrade', 'rollback'] as const).flatMap((kind) => active.get(activeKey(policy, kind)) ?? []),
    );

  return {
    findUpgradesOf: async (policies, collectorId) => {
      return activeIds(policies).flatMap((rolloutId) => {
        const upgrade = kept.get(rolloutId)?.upgrades.get(collectorId);
        return upgrade === undefined ? [] : [{ rolloutId, upgrade }];
      });
    },
    activeRolloutIds: async (policies) => activeIds(policies),
    currentRollouts: async (policies) => {
      const ids = new Set<string>();
      for (const policy of policies) {
        const all = listOf([policy]);
        const isActive = ({ id }: Rollout) => [...active.values()].includes(id);
        const last = all.find((rollout) => !isActive(rollout));
        for (const { id, rollbackId, rollbackOf } of [...all.filter(isActive), ...(last ? [last] : [])])
          for (const each of [id, rollbackId, rollbackOf]) if (each !== null) ids.add(each);
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
    listOutcomes: async (id) => {
      const failed = new Set<number>();
      const succeeded = new Set<number>();
      for (const [collectorId, { progress }] of kept.get(id)?.upgrades ?? []) {
        if (isFailed(progress.state)) failed.add(collectorId);
        else if (isEnd(progress.state) && progress.state !== 'withdrawn') succeeded.add(collectorId);
      }
      return { failed, succeeded };
    },
    loadView: async (id, { now, overdueBefore, pageSize }) => {
      const of = kept.get(id);
      if (of === undefined) return undefined;
      const { rollout, groups, tally } = of;
      const share = Math.floor(candidatesPerView / Math.max(1, groups.lanes.length));
      const perLane = Math.min(pageSize, Math.max(perLaneMin, share));
      const frontier = rollout.waves.findLastIndex(hasBegun);
      return {
        rollout,
        groups,
        braked: of.brake,
        waves: tally.waves(rollout.waves.length),
        ...tally.figures(),
        ...tally.queues({ now, frontier, perLane }),
        overdue: tally.overdue(overdueBefore).slice(0, pageSize),
      };
    },
    loadUpgrade: async (id, collectorId) => kept.get(id)?.upgrades.get(collectorId),
    loadUpgrades: async (id, collectorIds) => ({
      upgrades: collectorIds.flatMap((each) => kept.get(id)?.upgrades.get(each) ?? []),
      unreadable: [],
    }),
    findNamed: async (id, name) =>
      [...(kept.get(id)?.upgrades.values() ?? [])]
        .filter(({ identity: { collectorName } }) => collectorName === name)
        .sort((a, b) => a.identity.collectorId - b.identity.collectorId),
    listMemberIds: async (id) => [...(kept.get(id)?.upgrades.keys() ?? [])],
    listUpgrades: async (id, { offset, limit, state, wave }) => {
      const of = kept.get(id);
      if (of === undefined) return [];
      const all =
        state === 'pending'
          ? of.tally.pending()
          : [...of.upgrades.values()].sort((a, b) => a.identity.order - b.identity.order);
      return all
        .filter(
          (upgrade) =>
            (state ?? upgrade.progress.state) === upgrade.progress.state &&
            (wave ?? upgrade.identity.wave) === upgrade.identity.wave,
        )
        .slice(offset, offset + limit);
    },
    listMissed: async (id, { kind, limit }) =>
      [...(kept.get(id)?.upgrades.values() ?? [])]
        .filter(({ progress: { state } }) => (kind === 'failed' ? isFailed(state) : state === kind))
        .sort((a, b) => missedOrder(a) - missedOrder(b))
        .slice(0, Math.max(0, limit)),
    listDue: async (id, limit) => {
      const of = kept.get(id);
      if (of === undefined) return [];
      const ids = of.tally.overdue(Number.POSITIVE_INFINITY).slice(0, Math.max(0, limit));
      return ids.flatMap((each) => of.upgrades.get(each) ?? []);
    },
    findCorrupt: async () => [],
    countFreshIntents: async (id, withinMs) =>
      [...(kept.get(id)?.intents.values() ?? [])].filter((at) => at >= storeNow() - withinMs).length,
    readEvents: async (id, { limit }) =>
      limit <= 0 ? [] : (kept.get(id)?.events ?? []).slice(-limit).reverse(),
  } satisfies Partial<RolloutStore>;
}

/** Those that ended last, and retries that are due first, come first. */
function missedOrder(upgrade: Upgrade): number {
  if ('endedAt' in upgrade.progress) return -upgrade.progress.endedAt;
  return upgrade.progress.state === 'retrying' ? upgrade.progress.dueAt : 0;
}
