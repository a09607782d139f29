import type { FleetCollector } from './collector.ts';
import type { CollectorKey } from './policy.ts';

/** What a collector has under a key; empty where it has nothing. */
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
