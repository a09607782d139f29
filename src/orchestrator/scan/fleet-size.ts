import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { ScanFailure } from '../../rollout/messages/scans.ts';
import { isMuchShorter } from '../../rollout/model/assess-inventory.ts';
import { type FleetMemory, latestScan, type ScanEntry } from '../ports/scan-book.ts';

// A fault of the service is usually repaired within this time. After it, a smaller fleet counts as real.
const shortForMs: DurationMs = 3_600_000;

/** The size of the fleet at the last scan of this policy that read it. */
export function recallFleet(entries: readonly ScanEntry[], policy: string): FleetMemory | undefined {
  return latestScan(entries.filter((entry) => entry.policy === policy && entry.fleet !== undefined))?.fleet;
}

/**
 * Compares the size of the fleet with that of the last successful scan, because no plan may be made from half a fleet (P14).
 * A list that stays short for `shortForMs` counts as the whole fleet.
 * @param size without ephemeral collectors
 * @returns what the next scan remembers, and why no plan is made
 */
export function judgeFleetSize(
  before: FleetMemory | undefined,
  size: number,
  at: EpochMs,
): { readonly fleet: FleetMemory; readonly refusal: ScanFailure | undefined } {
  const known = before?.size ?? 0;
  const isShort = isMuchShorter(size, known) || (size === 0 && known > 0);
  const shortSince = before?.shortSince ?? at;
  if (!isShort || at - shortSince >= shortForMs) return { fleet: { size }, refusal: undefined };
  const refusal = { kind: 'shortInventory', size, before: known, believedAfterMs: shortForMs } as const;
  return { fleet: { size: known, shortSince }, refusal };
}
