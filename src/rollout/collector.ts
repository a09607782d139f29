import type { EpochMs } from '../base/time.ts';

/** A collector as the rules see it, read from the inventory. */
export interface FleetCollector {
  readonly id: number;
  readonly name: string;
  readonly category: string;
  readonly hostName: string;
  readonly osName: string;
  readonly osArch: string;
  readonly build: string;
  readonly alive: boolean;
  readonly lastSeenAlive: EpochMs | undefined;
  readonly ephemeral: boolean;
  readonly sourceSyncMode: string;
  readonly timeZone: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** What one reading of the service told about the fleet. */
export interface FleetSnapshot {
  readonly readAt: EpochMs;
  /** Every installed collector. */
  readonly collectors: readonly FleetCollector[];
  /** Those that the service would upgrade to the target now. */
  readonly upgradableIds: ReadonlySet<number>;
}
