import type { RolloutStore } from '../../orchestrator/ports/rollout-store.ts';
import { dueAtOf } from '../../rollout/model/upgrade.ts';
import { nameBucketOf } from '../schema/name-bucket.ts';
import { listOutcomes } from './list-outcomes.ts';
import { listMissed, listUpgrades, loadUpgrades, readUpgrades } from './list-upgrades.ts';
import type { StoreContext } from './store-context.ts';

type UpgradeReads = Pick<
  RolloutStore,
  | 'loadUpgrade'
  | 'loadUpgrades'
  | 'findNamed'
  | 'listMemberIds'
  | 'listOutcomes'
  | 'listUpgrades'
  | 'listDue'
  | 'listMissed'
>;

/** Reads upgrades: by collector, by page, by what is due, by how they ended. */
export function makeUpgradeReads({ commands, ofRollout, readable }: StoreContext): UpgradeReads {
  return {
    loadUpgrade: async (rolloutId, collectorId) => {
      const { upgrades, unreadable } = await loadUpgrades(commands, readable(rolloutId), [collectorId]);
      // It is reported by now. A record that is asked for alone must not be taken for an absent one, so this throws.
      if (unreadable.length > 0) await readUpgrades(commands, ofRollout(rolloutId), unreadable);
      return upgrades[0];
    },

    loadUpgrades: (rolloutId, collectorIds) => loadUpgrades(commands, readable(rolloutId), collectorIds),

    findNamed: async (rolloutId, name) => {
      const ids = await commands.hget(ofRollout(rolloutId).keys.names, nameBucketOf(name));
      const filed = [...new Set(ids?.split(' ') ?? [])].map(Number).sort((a, b) => a - b);
      const { upgrades } = await loadUpgrades(commands, readable(rolloutId), filed);
      return upgrades.filter(({ identity: { collectorName } }) => collectorName === name);
    },

    listMemberIds: async (rolloutId) =>
      (await commands.zrange(ofRollout(rolloutId).keys.order, '0', '-1')).map(Number),

    listOutcomes: (rolloutId) => listOutcomes(commands, ofRollout(rolloutId).keys),

    listUpgrades: (rolloutId, page) => listUpgrades(commands, readable(rolloutId), page),

    listDue: async (rolloutId, limit) => {
      const { due } = ofRollout(rolloutId).keys;
      const ids = limit <= 0 ? [] : await commands.zrange(due, '0', String(limit - 1));
      const { upgrades } = await loadUpgrades(commands, readable(rolloutId), ids.map(Number));
      // Read in two steps: an upgrade may have ended in between.
      return upgrades.filter(
        (record) => record.progress.state !== 'retrying' && dueAtOf(record) !== undefined,
      );
    },

    listMissed: (rolloutId, of) => listMissed(commands, readable(rolloutId), of),
  };
}
