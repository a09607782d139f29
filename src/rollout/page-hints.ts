import type { EpochMs } from '../base/time.ts';
import { nextRareTaskLookAt } from './look-schedule.ts';
import type { Policy } from './policy.ts';
import type { Upgrade } from './upgrade.ts';
import { progress, to, verification } from './upgrade-changes.ts';

/** A row of the inventory hints that the task may be over: its look is due now. Nothing else changes (P10). */
export function afterStirred(upgrade: Upgrade, at: EpochMs): Upgrade {
  if (upgrade.state !== 'upgrading' || upgrade.ending !== null || upgrade.dueAt <= at) return upgrade;
  return to(upgrade, { ...progress(upgrade), dueAt: at });
}

/**
 * A row of the inventory shows nothing new: a look due before `until` waits, since the next page comes earlier than that.
 * One that is due already goes ahead, and none waits longer than its rare look, its deadline or the end of its proof: so
 * looks come back by themselves when pages do not.
 */
export function afterQuiet(
  upgrade: Upgrade,
  { at, until }: { readonly at: EpochMs; readonly until: EpochMs },
  policy: Policy,
): Upgrade {
  if (upgrade.state === 'upgrading' && upgrade.ending === null && upgrade.taskId !== null) {
    const dueAt = putOff(upgrade.dueAt, at, Math.min(until, nextRareTaskLookAt(upgrade, policy)));
    return dueAt === upgrade.dueAt ? upgrade : to(upgrade, { ...progress(upgrade), dueAt, quietAt: at });
  }
  if (upgrade.state === 'verifying') {
    const dueAt = putOff(upgrade.dueAt, at, Math.min(until, upgrade.verifyBy));
    return dueAt === upgrade.dueAt ? upgrade : to(upgrade, { ...verification(upgrade), dueAt });
  }
  if (upgrade.state === 'queued') {
    const dueAt = putOff(upgrade.dueAt, at, until);
    const { freshAt, heardAfter, startBy } = upgrade;
    if (dueAt === upgrade.dueAt || heardAfter === undefined) return upgrade;
    return to(upgrade, { state: 'queued', dueAt, freshAt, heardAfter, startBy });
  }
  return upgrade;
}

function putOff(dueAt: EpochMs, at: EpochMs, until: EpochMs): EpochMs {
  return dueAt <= at ? dueAt : Math.max(dueAt, until);
}
