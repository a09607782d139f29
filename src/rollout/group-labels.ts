import type { FleetCollector } from './collector.ts';
import { valueUnder as readKey } from './collector-key.ts';
import type { CollectorKey } from './policy.ts';

/** Names the stratum of a collector by its values: `Linux / amd64 / 19.441-2`. Equal labels are one stratum. */
export function stratumLabel(collector: FleetCollector, spreadBy: readonly CollectorKey[]): string {
  if (spreadBy.length === 0) return 'all';
  return spreadBy.map((key) => readKey(collector, key) || '(none)').join(' / ');
}

/** Names the domain of a cap: `fields.cluster = db-7`. A collector without a value is in none: undefined. */
export function domainLabel(collector: FleetCollector, key: CollectorKey): string | undefined {
  const value = readKey(collector, key);
  return value === '' ? undefined : `${key} = ${value}`;
}
