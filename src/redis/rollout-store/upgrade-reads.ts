import { keepLatest } from '../../base/keep-latest.ts';
import type { RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import type { Outcomes } from '../../rollout/model/attributes.ts';
import { dueAtOf } from '../../rollout/model/upgrade.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { nameBucketOf } from '../schema/name-bucket.ts';
import type { RolloutKeys } from '../schema/rollout-keys.ts';
import { listMissed, listUpgrades, loadUpgrades } from './list-upgrades.ts';
import { makeRecentUpgrades } from './recent-upgrades.ts';
import type { StoreContext } from './store-context.ts';

// The ids of 100,000 members are 1 MB. Where more rollouts are active, their plans are small, and a read costs little.
const plansKnownMax = 32;

/** Reads upgrades: by collector, by page, by due instant, by outcome. */
export function makeUpgradeReads({ commands, ofRollout, readable }: StoreContext) {
  /** The members of plans, of which each reading of the inventory asks. */
  const knownMembers = new Map<string, { readonly mark: string | null; readonly ids: readonly number[] }>();
  const decodeRecent = makeRecentUpgrades();
  return {
    loadUpgrades: (rolloutId, collectorIds) => loadUpgrades(commands, readable(rolloutId), collectorIds),

    findNamed: async (rolloutId, name) => {
      const ids = await commands.hget(ofRollout(rolloutId).keys.names, nameBucketOf(name));
      const filed = [...new Set(ids?.split(' ') ?? [])].map(Number).sort((a, b) => a - b);
      const { upgrades } = await loadUpgrades(commands, readable(rolloutId), filed);
      return upgrades.filter(({ identity: { collectorName } }) => collectorName === name);
    },

    listMemberIds: async (rolloutId) => {
      const { keys } = ofRollout(rolloutId);
      // Read first: each plan, and each late joiner, comes with another mark.
      const mark = await commands.hget(keys.rollout, 'groupsMark');
      const known = knownMembers.get(rolloutId);
      if (mark !== null && known?.mark === mark) return known.ids;
      const ids = (await commands.zrange(keys.order, '0', '-1')).map(Number);
      keepLatest(knownMembers, rolloutId, { mark, ids }, plansKnownMax);
      return ids;
    },

    listOutcomes: (rolloutId) => listOutcomes(commands, ofRollout(rolloutId).keys),

    listUpgrades: (rolloutId, page) => listUpgrades(commands, readable(rolloutId), page),

    listDue: async (rolloutId, limit) => {
      const { due } = ofRollout(rolloutId).keys;
      const ids = limit <= 0 ? [] : await commands.zrange(due, '0', String(limit - 1));
      const { upgrades } = await loadUpgrades(commands, readable(rolloutId), ids, decodeRecent);
      // The record was read after the index, and may have ended in between.
      return upgrades.filter(
        (record) => record.progress.state !== 'retrying' && dueAtOf(record) !== undefined,
      );
    },

    listMissed: (rolloutId, page) => listMissed(commands, readable(rolloutId), page, decodeRecent),
  } satisfies Partial<RolloutStore>;
}

/**
 * Finds which collectors failed and which were upgraded, without reading records: every planned collector that neither
 * waits, nor runs, nor failed was upgraded. The sets are read in the order of an upgrade's progress, so that one which
 * advances meanwhile is still found. Retrying upgrades, which go back, are read twice.
 */
async function listOutcomes(commands: RedisCommands, keys: RolloutKeys): Promise<Outcomes> {
  const idsIn = (key: string) => commands.zrange(key, '0', '-1');
  const [pending, retries, due, retriesAgain, failed, withdrawn, all] = await Promise.all([
    idsIn(keys.pending),
    idsIn(keys.retries),
    idsIn(keys.due),
    idsIn(keys.retries),
    commands.zrangebyscore(keys.missed, '0', '+inf'),
    commands.zrangebyscore(keys.missed, '-inf', '(0'),
    idsIn(keys.order),
  ]);
  const retrying = [...retries, ...retriesAgain].map((name) => name.slice(0, name.indexOf(':')));
  const others = new Set([...pending, ...retrying, ...due, ...failed, ...withdrawn]);
  return {
    failed: new Set(failed.map(Number)),
    succeeded: new Set(all.filter((id) => !others.has(id)).map(Number)),
  };
}
