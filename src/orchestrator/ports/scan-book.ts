import type { EpochMs } from '../../base/time.ts';
import type { PolicyNeed } from '../../contract/admin/policies.ts';
import type { ScanResult } from '../../rollout/messages/scans.ts';

/** The outcome of a scan. */
export type ScanOutcome = Exclude<ScanResult['kind'], 'outdated'>;

/** The size of the fleet at earlier scans. No plan is made from a much shorter list. */
export interface FleetMemory {
  /** Installed collectors at the last good scan, without ephemeral ones. */
  readonly size: number;
  /** Since when lists have been much shorter; absent while they are not. */
  readonly shortSince?: EpochMs | undefined;
}

/** A policy's last scan with this outcome. */
export interface ScanEntry {
  readonly policy: string;
  readonly outcome: ScanOutcome;
  readonly at: EpochMs;
  /** The result as a sentence. */
  readonly reason: string;
  /** What the policy waits for; absent: no operator. */
  readonly needs?: PolicyNeed | undefined;
  /** When the next successful scan is overdue. */
  readonly overdueAt: EpochMs;
  /** Since when every scan of the policy has failed; absent if this one succeeded, or an operator asked for it. */
  readonly failedSince?: EpochMs | undefined;
  /** When a failed scan is repeated; absent if the schedule is sooner. */
  readonly againAt?: EpochMs | undefined;
  /** Absent while no scan has read the fleet. */
  readonly fleet?: FleetMemory | undefined;
}

/** Where scans are recorded for all daemons: one entry for each policy and outcome. */
export interface ScanBook {
  note(entry: ScanEntry): Promise<void>;
  /** The entries of all policies that were scanned in the last year, including those no longer in the config. */
  read(): Promise<readonly ScanEntry[]>;
}

/** The next instants of a policy's schedule, soonest first. */
export type ScanForecast = (policy: string, count: number) => readonly EpochMs[];

/** The latest entry of one policy that is no failure. */
export function lastGoodScan(entries: readonly ScanEntry[]): ScanEntry | undefined {
  return latestScan(entries.filter(({ outcome }) => outcome !== 'failed'));
}

/** The latest entry. */
export function latestScan(entries: readonly ScanEntry[]): ScanEntry | undefined {
  return entries.toSorted((a, b) => b.at - a.at)[0];
}
