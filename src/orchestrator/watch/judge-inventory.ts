import type { Sleep } from '../../base/waiting.ts';
import {
  assessReading,
  isInventoryChecked,
  judgeInventoryReading,
  recheckInventoryMs,
} from '../../rollout/decision/implausible-inventory.ts';
import {
  countSteady,
  type InventoryCount,
  type InventoryVerdict,
} from '../../rollout/model/assess-inventory.ts';
import type { FleetInventory } from '../../rollout/model/collector.ts';
import type { Rollout, RolloutView } from '../../rollout/model/rollout.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import { describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import type { FleetService } from '../ports/fleet-service.ts';
import { type ChangeRolloutParts, changeRollout } from '../records/change-rollout.ts';
import type { Observations } from './observations.ts';

export interface JudgeInventoryParts extends ChangeRolloutParts {
  readonly fleet: Pick<FleetService, 'readInventory'>;
  /** Rows of the last minute. */
  readonly observations: Observations;
}

/**
 * Judges one complete reading of the inventory against the members of a rollout, and stores the result. While readings are
 * implausible the rollout waits, and no collector counts as gone (P14).
 */
export async function judgeInventory(
  parts: ChangeRolloutParts,
  rollout: Rollout,
  inventory: FleetInventory,
): Promise<InventoryVerdict> {
  const seen = await countMembers(parts, rollout.id, inventory);
  // Nearly every reading confirms the last one, and needs no view.
  if (judgeInventoryReading(rollout, seen, parts.clock.now()) === undefined)
    return assessReading(rollout, seen);
  const view = await changeRollout(parts, rollout.id, 'daemon', ({ rollout: current }) =>
    judgeInventoryReading(current, seen, parts.clock.now()),
  );
  return assessReading(view?.rollout ?? rollout, seen);
}

/**
 * Whether a collector that the service does not know by its id is gone. A 404 counts only when a plausible inventory, read
 * after it, lacks the collector too. The result is also false while that is unknown: the leader reads the inventory again,
 * and polls of hundreds of collectors must not each do so (P8). Nor is it read again for a collector that was listed within
 * the last minute.
 */
export async function isGone(
  parts: JudgeInventoryParts,
  rollout: Rollout,
  collectorId: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (rollout.inventory.implausible !== null && isInventoryChecked(rollout)) return false;
  if (parts.observations.find(collectorId, parts.clock.now()) !== undefined) return false;
  const reading = await parts.fleet.readInventory(null, signal);
  if (!reading.ok) return false;
  parts.observations.note(reading.value, reading.value.readAt);
  const verdict = await judgeInventory(parts, rollout, reading.value);
  return verdict.kind === 'plausible' && !reading.value.collectors.some(({ id }) => id === collectorId);
}

/** Reads the inventory again for a rollout whose last reading was implausible, and rests where it still is. */
export async function checkInventory(
  parts: Omit<JudgeInventoryParts, 'observations'> & { readonly sleep: Sleep },
  { rollout }: RolloutView,
  signal: AbortSignal,
): Promise<'done' | 'again'> {
  const reading = await parts.fleet.readInventory(null, signal);
  if (signal.aborted) return 'again';
  if (!reading.ok) {
    const reason = `the inventory could not be read: ${describeFailure(reading.failure)}`;
    parts.sink.note({ event: 'poll.failed', rollout: rollout.id, reason });
    return 'again';
  }
  const verdict = await judgeInventory(parts, rollout, reading.value);
  if (verdict.kind === 'plausible') return 'done';
  await parts.sleep(recheckInventoryMs(rollout, parts.clock.now()), signal);
  return 'done';
}

function isPresent({ progress: { state } }: Upgrade): boolean {
  return state !== 'withdrawn';
}

async function countMembers(
  { store }: Pick<ChangeRolloutParts, 'store'>,
  rolloutId: string,
  { readAt, collectors }: FleetInventory,
): Promise<InventoryCount> {
  const listedIds = new Set(collectors.map(({ id }) => id));
  const memberIds = await store.listMemberIds(rolloutId);
  const absent = memberIds.filter((id) => !listedIds.has(id));
  const { upgrades, unreadable } =
    absent.length === 0 ? { upgrades: [], unreadable: [] } : await store.loadUpgrades(rolloutId, absent);
  const steady = upgrades.filter(({ identity: { ephemeral } }) => ephemeral !== true);
  return {
    readAt,
    rows: collectors.length,
    size: countSteady(collectors),
    members: memberIds.length - (upgrades.length - steady.length),
    missing: steady.length + unreadable.length,
    missingUnexplained: steady.filter(isPresent).length + unreadable.length,
    transient: upgrades.filter((upgrade) => upgrade.identity.ephemeral === true && isPresent(upgrade)).length,
  };
}
