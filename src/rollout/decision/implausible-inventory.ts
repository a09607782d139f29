import { assertNever } from '../../base/assert.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { formatDuration } from '../../base/time.ts';
import {
  afterGoodReading,
  assessInventory,
  type Implausible,
  type ImplausibleInventory,
  type InventoryCount,
  type InventoryVerdict,
  implausibleHoldAfterMs,
} from '../model/assess-inventory.ts';
import { isRolloutEnd, type Rollout } from '../model/rollout.ts';
import type { Hold } from './blocker.ts';
import type { RolloutFact } from './evolve-rollout.ts';

// As often as a usual rollout reads its inventory; the longer it lasts, the less often.
const recheckShare = 1 / 20;
const recheckMaxMs: DurationMs = 5 * 60_000;
const recheckShareOfAge = 0.1;

/** How a reading of the inventory stands for a rollout: one that began before an implausible one says nothing any more. */
export function assessReading(
  { inventory, doubt }: Pick<Rollout, 'inventory' | 'doubt'>,
  seen: InventoryCount,
): InventoryVerdict {
  if (doubt !== undefined && seen.readAt < doubt.readAt) return { kind: 'implausible', why: doubt.why };
  return assessInventory(seen, inventory, doubt?.since);
}

/**
 * What one whole reading of the inventory means for the rollout's record; undefined: nothing new.
 */
export function judgeInventoryReading(
  rollout: Rollout,
  seen: InventoryCount,
  at: EpochMs,
): RolloutFact | undefined {
  const { doubt, inventory, state } = rollout;
  if (isRolloutEnd(state) || state === 'awaitingApproval' || state === 'planned') return undefined;
  if (doubt !== undefined && seen.readAt < doubt.readAt) return undefined;
  const verdict = assessInventory(seen, inventory, doubt?.since);
  if (verdict.kind === 'implausible') {
    const { readAt, size, missing } = seen;
    const isSame = doubt !== undefined && doubt.size === size && doubt.missing === missing;
    return isSame
      ? undefined
      : { kind: 'inventoryImplausible', at, doubt: { readAt, why: verdict.why, size, missing } };
  }
  const next = afterGoodReading(inventory, seen);
  return doubt === undefined && next === inventory
    ? undefined
    : { kind: 'inventoryTrusted', at, inventory: next };
}

/** Whether a rollout that is in doubt reads the inventory again by itself (`decide`). */
export function isInventoryChecked({ state }: Pick<Rollout, 'state'>): boolean {
  return state === 'running' || state === 'held' || state === 'paused';
}

/** How long after one reading the next one follows, while there is a doubt. */
export function recheckInventoryMs({ policy, doubt }: Rollout, now: EpochMs): DurationMs {
  const leastMs = policy.upgrade.expectMs * recheckShare;
  return Math.max(leastMs, Math.min(recheckMaxMs, (now - (doubt?.since ?? now)) * recheckShareOfAge));
}

/** Why the rollout waits, for `status`; it ends by itself with the next good reading. */
export function implausibleBlocker(doubt: ImplausibleInventory, now: EpochMs): Hold {
  return {
    reason: `${describeImplausible(doubt.why)}; waiting for ${lastsWords(doubt, now)}, held after ${holdAfterWords}`,
    until: null,
  };
}

/** The same for one that is held or paused already. */
export function implausibleBesideHold(doubt: ImplausibleInventory, now: EpochMs): Hold {
  const reason = `${describeImplausible(doubt.why)}, for ${lastsWords(doubt, now)}; it is read again`;
  return { reason, until: null };
}

function lastsWords({ since }: ImplausibleInventory, now: EpochMs): string {
  return formatDuration(Math.max(0, Math.round((now - since) / 1_000) * 1_000));
}

/** The reason of the hold that follows, with what a person can do. */
export function implausibleHeldWords({ why }: ImplausibleInventory): string {
  const check = 'check the access key, its role and the base URL';
  const way =
    why.kind === 'empty'
      ? 'then resume: the inventory is read again first'
      : 'or, if they were removed on purpose, resume: it takes this inventory for the whole fleet';
  return `${describeImplausible(why)}, for ${holdAfterWords}; ${check}, ${way}`;
}

/** Why a rollback is not planned yet: it can't be held, so it goes on with the collectors that it can see. */
export function rollbackImplausibleWords({ why }: ImplausibleInventory): string {
  const after =
    why.kind === 'empty' ? '' : `; after ${holdAfterWords} it goes on without the missing collectors`;
  return `the rollback waits: ${describeImplausible(why)}${after}`;
}

const holdAfterWords = formatDuration(implausibleHoldAfterMs);

/** What is wrong with a reading, in words. */
export function describeImplausible(why: Implausible): string {
  switch (why.kind) {
    case 'empty':
      return `the inventory is not plausible: it is empty, ${why.expected} collectors are expected`;
    case 'manyGone':
      return `the inventory is not plausible: it lacks ${why.missing} of ${why.members} collectors of the rollout`;
    case 'short':
      return `the inventory is not plausible: it lists ${why.size} collectors, ${why.before} before`;
    default:
      return assertNever(why);
  }
}
