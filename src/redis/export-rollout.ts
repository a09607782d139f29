import type { RolloutEvent } from '../rollout/events.ts';
import type { PlanGroups } from '../rollout/plan-groups.ts';
import type { Rollout } from '../rollout/rollout.ts';
import type { Upgrade } from '../rollout/upgrade.ts';
import type { RedisCommands } from './connection.ts';
import { loadRollout } from './kept-rollouts.ts';
import { listUpgrades } from './list-upgrades.ts';
import { rolloutKeys } from './rollout-keys.ts';
import { decodeEvent } from './stored-event.ts';
import { decodeGroups } from './stored-groups.ts';

/** A line of a rollout's record. */
export type RecordLine =
  | { readonly kind: 'rollout'; readonly rollout: Rollout }
  | { readonly kind: 'groups'; readonly groups: PlanGroups }
  | { readonly kind: 'upgrade'; readonly upgrade: Upgrade }
  | { readonly kind: 'event'; readonly event: RolloutEvent };

// A few hundred KB each.
const pageSize = 1_000;

/**
 * Everything that is kept of a rollout: itself with its policy and its waves, the groups of its plan, each collector in
 * plan order, and its events, oldest first. Nothing when there is no such rollout. While it is on its way, each
 * line is as it was when it was read.
 */
export async function* exportRollout(
  redis: { readonly commands: RedisCommands; readonly keyPrefix: string },
  rolloutId: string,
): AsyncGenerator<RecordLine> {
  const { commands, keyPrefix } = redis;
  const keys = rolloutKeys(keyPrefix, rolloutId);
  const [rollout, groups] = await Promise.all([loadRollout(redis, rolloutId), commands.get(keys.groups)]);
  if (rollout === undefined) return;
  yield { kind: 'rollout', rollout };
  if (groups !== null) yield { kind: 'groups', groups: decodeGroups(groups, rolloutId) };
  const planned = await commands.zcard(keys.order);
  for (let offset = 0; offset < planned; offset += pageSize) {
    const page = await listUpgrades(commands, { id: rolloutId, keys }, { offset, limit: pageSize });
    for (const upgrade of page) yield { kind: 'upgrade', upgrade };
  }
  // Up to the last one that is there now: a rollout on its way adds more all the time.
  const [last] = await commands.xrevrange(keys.events, '+', '-', 'COUNT', 1);
  let from = '-';
  while (last !== undefined) {
    const page = await commands.xrange(keys.events, from, last[0], 'COUNT', pageSize);
    for (const [id, fields] of page)
      yield { kind: 'event', event: decodeEvent(fields[1] ?? '', rolloutId, id) };
    const end = page.at(-1);
    if (end === undefined || end[0] === last[0]) return;
    from = `(${end[0]}`;
  }
}
