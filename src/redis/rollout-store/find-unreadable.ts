import type { UnreadableRecords } from '../../rollout/model/rollout.ts';
import type { RedisCommands } from '../connection/connection.ts';
import { attributesName } from '../schema/stored-attributes.ts';
import { upgradeName } from '../schema/stored-upgrade.ts';
import { loadUpgrades } from './list-upgrades.ts';
import type { ReadableRollout } from './store-context.ts';

/**
 * Finds the unreadable records of a rollout besides its own. Those known are read again, because an operator may have
 * restored one.
 * @param found whether its groups are unreadable, and upgrades with an overdue step, whose records may be the reason
 * @returns undefined if there is none
 */
export async function findUnreadable(
  commands: RedisCommands,
  rollout: ReadableRollout,
  found: { readonly areGroupsUnreadable: boolean; readonly overdue: readonly number[] },
): Promise<UnreadableRecords | undefined> {
  const { id, keys, broken } = rollout;
  const known = broken.upgradesOf(id);
  const { unreadable } = await loadUpgrades(commands, rollout, [...new Set([...known, ...found.overdue])]);
  const still = new Set(unreadable);
  for (const collectorId of known) if (!still.has(collectorId)) broken.forget(upgradeName(id, collectorId));
  const all = [
    ...(found.areGroupsUnreadable ? [keys.groups] : []),
    ...(broken.isKnown(attributesName(id)) ? [keys.attributes] : []),
    ...unreadable.map((collectorId) => `${keys.records} ${collectorId}`),
  ];
  return all.length === 0 ? undefined : { keys: all, ...(await countOpen(commands, rollout, unreadable)) };
}

/** Counts the upgrades that have not ended. The sorted sets show which, without their records. */
async function countOpen(
  commands: RedisCommands,
  { keys }: ReadableRollout,
  collectorIds: readonly number[],
): Promise<Pick<UnreadableRecords, 'waiting' | 'mayRun'>> {
  if (collectorIds.length === 0) return { waiting: 0, mayRun: 0 };
  const [retries, ...scores] = await Promise.all([
    commands.zrange(keys.retries, '0', '-1'),
    ...collectorIds.map((each) =>
      Promise.all([commands.zscore(keys.pending, String(each)), commands.zscore(keys.due, String(each))]),
    ),
  ]);
  const retrying = new Set(retries.map((member) => Number(member.slice(0, member.indexOf(':')))));
  const isWaiting = collectorIds.map((each, index) => scores[index]?.[0] != null || retrying.has(each));
  return {
    waiting: isWaiting.filter(Boolean).length,
    mayRun: scores.filter(([, due], index) => isWaiting[index] !== true && due !== null).length,
  };
}
