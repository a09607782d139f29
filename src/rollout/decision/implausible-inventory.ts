import type { DurationMs, EpochMs } from '../../base/time.ts';
import {
  afterGoodReading,
  assessInventory,
  type ImplausibleInventory,
  type InventoryCount,
  type InventoryVerdict,
  implausibleHoldAfterMs,
} from '../model/assess-inventory.ts';
import { isRolloutEnd, type Rollout } from '../model/rollout.ts';
import type { RolloutFact } from './rollout-facts.ts';

// At first as often as running rollouts read the inventory, later less often.
const recheckShare = 1 / 20;
const recheckMaxMs: DurationMs = 5 * 60_000;
const recheckShareOfAge = 0.1;

/** Judges a reading of the inventory for a rollout. A reading that began before an implausible one is no evidence. */
export function assessReading(
  { inventory: { baseline, implausible } }: Pick<Rollout, 'inventory'>,
  seen: InventoryCount,
): InventoryVerdict {
  if (implausible !== null && seen.readAt < implausible.readAt)
    return { kind: 'implausible', why: implausible.why };
  return assessInventory(seen, baseline, implausible?.since);
}

/** The fact that follows from a complete reading of the inventory; undefined if nothing changes. */
export function judgeInventoryReading(
  rollout: Rollout,
  seen: InventoryCount,
  at: EpochMs,
): RolloutFact | undefined {
  const { state } = rollout;
  const { baseline, implausible } = rollout.inventory;
  if (isRolloutEnd(state) || state === 'awaitingApproval') return undefined;
  if (isOutdated(rollout, seen)) return undefined;
  const verdict = assessInventory(seen, baseline, implausible?.since);
  if (verdict.kind === 'implausible') {
    const { readAt, size, missing } = seen;
    const isSame = implausible !== null && implausible.size === size && implausible.missing === missing;
    return isSame
      ? undefined
      : { kind: 'inventoryImplausible', at, reading: { readAt, why: verdict.why, size, missing } };
  }
  const next = afterGoodReading(baseline, seen);
  if (implausible !== null)
    return { kind: 'inventoryTrusted', at, inventory: { ...next, trustedAt: seen.readAt } };
  return next === baseline ? undefined : { kind: 'inventoryTrusted', at, inventory: next };
}

/** Whether a later reading was judged already: the watch and a check after a 404 may read the inventory concurrently. */
function isOutdated({ inventory: { baseline, implausible } }: Rollout, { readAt }: InventoryCount): boolean {
  if (implausible !== null) return readAt < implausible.readAt;
  return baseline?.trustedAt !== undefined && readAt <= baseline.trustedAt;
}

/** Whether a rollout with an implausible inventory reads it again by itself (`decide`). */
export function isInventoryChecked({ state }: Pick<Rollout, 'state'>): boolean {
  return state === 'running' || state === 'held' || state === 'paused';
}

/** The interval of readings while the inventory is implausible. */
export function recheckInventoryMs(
  { policy, inventory: { implausible } }: Rollout,
  now: EpochMs,
): DurationMs {
  const leastMs = policy.upgrade.expectMs * recheckShare;
  return Math.max(leastMs, Math.min(recheckMaxMs, (now - (implausible?.since ?? now)) * recheckShareOfAge));
}

/** When a rollback continues with the collectors that were found; null: an empty list finds none, for however long. */
export function rollbackContinuesAt({ why, since }: ImplausibleInventory): EpochMs | null {
  return why.kind === 'empty' ? null : since + implausibleHoldAfterMs;
}

/** Why the rollout waits. The wait ends by itself with the next plausible reading. */
export function implausibleBlocker({ why, since }: ImplausibleInventory, now: EpochMs) {
  const lastsMs = Math.max(0, now - since);
  return { kind: 'inventory', why, lastsMs, heldAfterMs: implausibleHoldAfterMs, until: null } as const;
}
