import type { EpochMs } from '../base/time.ts';
import type { UpgradeChange } from '../orchestrator/ports.ts';
import { dueAtOf, holdsSlot, isLost, type Upgrade, weightOf } from '../rollout/upgrade.ts';
import { encodeUpgrade } from './stored-upgrade.ts';

/** Where a record stands in the sorted sets; no score: it is not in that set. */
export interface UpgradeIndex {
  readonly pending?: string;
  readonly due?: string;
  readonly retry?: string;
  readonly intent?: string;
}

// More places than any plan has, so that waves do not overlap; wave × 1e9 + order is exact in a double.
export const placesPerWave = 1_000_000_000;

/** The scores of a record, from the core's own functions, so that the scripts know no rule. */
export function indexOf(upgrade: Upgrade): UpgradeIndex {
  const dueAt = dueAtOf(upgrade);
  return {
    ...(upgrade.state === 'pending' ? { pending: String(upgrade.wave * placesPerWave + upgrade.order) } : {}),
    ...(dueAt === undefined ? {} : { [upgrade.state === 'retrying' ? 'retry' : 'due']: String(dueAt) }),
    ...(upgrade.state === 'starting' ? { intent: String(upgrade.sentAt) } : {}),
  };
}

/** From the first create to the proof, for an upgrade that succeeded. */
export function learnedMsOf(upgrade: Upgrade): number | undefined {
  if (upgrade.state !== 'succeeded' || upgrade.firstStartedAt === null) return undefined;
  return Math.max(0, Math.round(upgrade.endedAt - upgrade.firstStartedAt));
}

/** A change as the transition script takes it: what to check, what to count, then the record and its events. */
export function encodeChange(change: UpgradeChange): readonly string[] {
  const { before, after, events } = change;
  const changedAt = before.state === after.state ? undefined : changedAtOf(change);
  const learnedMs = learnedMsOf(before) === undefined ? learnedMsOf(after) : undefined;
  const meta = {
    id: String(after.collectorId),
    rev: before.rev,
    wave: String(after.wave),
    from: before.state,
    to: after.state,
    slots: Number(holdsSlot(after.state)) - Number(holdsSlot(before.state)),
    weight: weightOf(after) - weightOf(before),
    lost: Number(isLost(after)) - Number(isLost(before)),
    ...(changedAt === undefined ? {} : { changedAt: String(changedAt) }),
    ...(learnedMs === undefined ? {} : { learnedMs: String(learnedMs) }),
    ...indexOf(after),
    events: events.length,
  };
  return [JSON.stringify(meta), encodeUpgrade(after), ...events.map((event) => JSON.stringify(event))];
}

/** When the state changed: its event knows, and an end knows without one. */
function changedAtOf({ after, events }: UpgradeChange): EpochMs | undefined {
  const instants = events.map(({ at }) => at);
  if ('endedAt' in after) instants.push(after.endedAt);
  return instants.length === 0 ? undefined : Math.max(...instants);
}
