import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { CollectorKey } from './policy.ts';

/** A collector for the rules, read from the inventory. */
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

/** The fleet in one reading of the service. */
export interface FleetSnapshot {
  readonly readAt: EpochMs;
  /** The service's own clock when the inventory was read, if present. */
  readonly serviceAt: EpochMs | null;
  /** Every installed collector. */
  readonly collectors: readonly FleetCollector[];
  /** Collectors that the service would upgrade to the target now. */
  readonly upgradableIds: ReadonlySet<number>;
  /** The service's own clock at that answer, if present. */
  readonly offeredAt: EpochMs | null;
}

/** A reading of the inventory without the upgradable collectors. */
export type FleetInventory = Omit<FleetSnapshot, 'upgradableIds' | 'offeredAt'>;

// A heartbeat comes every 15 seconds (collector-api.md §8). A collector that missed one may be restarting at the end of
// someone else's upgrade, while the service still shows its old build and lists it as upgradable.
const heardWithinMs: DurationMs = 20_000;

// After three missing heartbeats, the silence is longer than a usual restart.
const silentAfterMs: DurationMs = 45_000;

/** Classifies the age of a collector's last heartbeat by the service's clock; `unknown` without heartbeat or clock. */
export function assessHeartbeat(
  lastSeenAlive: EpochMs | null | undefined,
  serviceAt: EpochMs | null,
): 'heard' | 'late' | 'silent' | 'unknown' {
  if (lastSeenAlive === null || lastSeenAlive === undefined || serviceAt === null) return 'unknown';
  const ageMs = serviceAt - lastSeenAlive;
  if (ageMs <= heardWithinMs) return 'heard';
  return ageMs <= silentAfterMs ? 'late' : 'silent';
}

/** The value of a collector's key; empty without one. */
export function valueUnder(collector: FleetCollector, key: CollectorKey): string {
  switch (key) {
    case 'collectorVersion':
      return collector.build;
    case 'ephemeral':
      return collector.ephemeral ? 'ephemeral' : 'lasting';
    case 'osName':
    case 'osArch':
    case 'category':
    case 'hostName':
    case 'timeZone':
    case 'sourceSyncMode':
      return collector[key];
    default: {
      const field = key.slice('fields.'.length);
      return Object.hasOwn(collector.fields, field) ? (collector.fields[field] ?? '') : '';
    }
  }
}
