import type { EpochMs } from '../../base/time.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

export type ScanResult =
  | { readonly kind: 'started'; readonly rolloutId: string; readonly planned: number }
  | { readonly kind: 'busy'; readonly rolloutId: string; readonly unread?: Unread }
  | { readonly kind: 'nothing'; readonly reason: string }
  /** Another daemon has a newer config of the policy: it scans. */
  | { readonly kind: 'outdated'; readonly reason: string }
  /** `implausible`: the service answered, with a list of collectors that no plan is made from. */
  | {
      readonly kind: 'failed';
      readonly cause: ServiceFailure['kind'] | 'implausible';
      /** The service could not be reached at all. */
      readonly isUnreached: boolean;
      readonly reason: string;
    };

/** Why a rollout on its way could not be looked after, in words. */
export interface Unread {
  readonly reason: string;
  /** The inventory has no collector at all: it is never taken for the fleet, however long one waits. */
  readonly isFleetEmpty?: true;
}

/** What a look for work came to. */
export type ScanOutcome = Exclude<ScanResult['kind'], 'outdated'>;

/** What scans remember of the fleet, so that a list that is much shorter makes no plan. */
export interface FleetMemory {
  /** Installed collectors at the last good scan, without ephemeral ones. */
  readonly size: number;
  /** Since when lists have been much shorter than that; absent while they are not. */
  readonly shortSince?: EpochMs | undefined;
}

/** A policy's last scan that came to this. */
export interface ScanEntry {
  readonly policy: string;
  readonly outcome: ScanOutcome;
  readonly at: EpochMs;
  /** In an operator's words. */
  readonly reason: string;
  /** When the next one without failure is overdue. */
  readonly overdueAt: EpochMs;
  /** Absent while no scan has read the fleet. */
  readonly fleet?: FleetMemory | undefined;
}

/** Where looks for work are written down for all daemons: one entry for each policy and outcome. */
export interface ScanBook {
  note(entry: ScanEntry): Promise<void>;
  /** Of all policies that looked for work in the last year, also of those that are no longer in the config. */
  read(): Promise<readonly ScanEntry[]>;
}

/** The next instants of a policy's schedule, soonest first. */
export type ScanForecast = (policy: string, count: number) => readonly EpochMs[];

/** The latest that did not fail, of the entries of one policy. */
export function lastGoodScan(entries: readonly ScanEntry[]): ScanEntry | undefined {
  return latestScan(entries.filter(({ outcome }) => outcome !== 'failed'));
}

/** The latest of some entries. */
export function latestScan(entries: readonly ScanEntry[]): ScanEntry | undefined {
  return entries.reduce<ScanEntry | undefined>(
    (best, entry) => (best === undefined || entry.at > best.at ? entry : best),
    undefined,
  );
}
