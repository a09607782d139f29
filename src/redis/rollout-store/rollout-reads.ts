import type { RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import { joinTables } from '../../rollout/model/attributes.ts';
import { isRolloutId } from '../../rollout/model/rollout-id.ts';
import { rangeBound } from '../connection/commands.ts';
import { decodeAttributes, tablesInOrder } from '../schema/stored-attributes.ts';
import { decodeEvent, decodeGroups } from '../schema/stored-rollout.ts';
import { listCurrent, loadRollout, newestFirst, pageKept, rolloutsListedMax } from './kept-rollouts.ts';
import { loadUpgrades } from './list-upgrades.ts';
import type { StoreContext } from './store-context.ts';

/** Finds and reads rollouts: active ones, kept ones, their groups and events. */
export function makeRolloutReads(store: StoreContext) {
  const { commands, broken, ofPolicy, ofRollout, readable } = store;
  const activeRolloutIds = async (policies: readonly string[]): Promise<readonly string[]> => {
    const ids = await Promise.all(
      policies.map((policy) => {
        const { active } = ofPolicy(policy);
        return commands.mget(active.upgrade, active.rollback);
      }),
    );
    return ids.flat().filter((id) => id !== null);
  };

  return {
    activeRolloutIds,

    findUpgradesOf: async (policies, collectorId) => {
      const ids = await activeRolloutIds(policies);
      // In parallel: two round trips for any number of policies.
      const found = await Promise.all(
        ids.map(async (rolloutId) => {
          const loaded = await loadUpgrades(commands, readable(rolloutId), [collectorId]);
          const isThere = loaded.upgrades.length + loaded.unreadable.length > 0;
          return isThere ? [{ rolloutId, upgrade: loaded.upgrades[0] }] : [];
        }),
      );
      return found.flat();
    },

    currentRollouts: async (policies) => {
      const lists = await Promise.all(
        policies.map((policy) => listCurrent(store, policy, activeRolloutIds([policy]))),
      );
      return lists.flat().sort(newestFirst);
    },

    pageRollouts: (policies, page) => pageKept(store, policies, page),

    listRollouts: async (policies) =>
      (await pageKept(store, policies, { limit: rolloutsListedMax }))?.rollouts ?? [],

    loadRollout: async (rolloutId) => (isRolloutId(rolloutId) ? loadRollout(store, rolloutId) : undefined),

    nextRolloutNumber: async (policy, yyyymmdd) =>
      Number((await commands.get(ofPolicy(policy).number(yyyymmdd))) ?? 0) + 1,

    loadGroups: async (rolloutId) => {
      const text = await commands.get(ofRollout(rolloutId).keys.groups);
      return text === null ? undefined : broken.read(() => decodeGroups(text, rolloutId));
    },

    loadAttributes: async (rolloutId) => {
      if (!isRolloutId(rolloutId)) return undefined;
      const texts = tablesInOrder(await commands.hgetall(ofRollout(rolloutId).keys.attributes));
      const tables = await Promise.all(texts.map((text) => decodeAttributes(text, rolloutId)));
      // Without the tables of late joiners it would name another group, so one unreadable table makes all unknown.
      const all = broken.read(() => tables.map((table) => table()));
      return all === undefined ? undefined : joinTables(all);
    },

    readEvents: async (rolloutId, { limit }) => {
      if (limit <= 0) return [];
      const { keys } = ofRollout(rolloutId);
      const newest = await commands.xrevrange(keys.events, '+', '-', 'COUNT', rangeBound(limit));
      const missing = limit - newest.length;
      const oldest = newest.at(-1)?.[0];
      const entries =
        missing <= 0 || oldest === undefined
          ? newest
          : [
              ...newest,
              ...(await commands.xrevrange(keys.milestones, `(${oldest}`, '-', 'COUNT', rangeBound(missing))),
            ];
      return entries.flatMap(
        ([id, fields]) => broken.read(() => decodeEvent(fields[1] ?? '', rolloutId, id)) ?? [],
      );
    },
  } satisfies Partial<RolloutStore>;
}
