import { hashHex } from '../base/hash.ts';
import type { EpochMs } from '../base/time.ts';
import type { Collector } from '../contract/collector.ts';
import { isAlive, lastHeartbeatAt, type SimulatedCollector, settleCollector } from './simulated-collector.ts';

/** A collector as the API shows it at an instant (collector-api.md §2.1). */
export function collectorView(collector: SimulatedCollector, now: EpochMs): Collector {
  const { facts } = collector;
  const life = settleCollector(collector, now);
  const shown: Collector = {
    ...facts,
    fields: { ...facts.fields },
    alive: isAlive(collector, now),
    collectorVersion: life.version,
    links: [{ rel: 'sources', href: `/v1/collectors/${facts.id}/sources` }],
  };
  if (facts.collectorType === 'Hosted') return shown;
  shown.lastSeenAlive = lastHeartbeatAt(life, now);
  if (collector.showsOsTime && life.kind === 'up') shown.osTime = now - life.upSince;
  return shown;
}

/** Quoted, and the same whatever the transient fields say (field-facts.md, The wire). */
export function collectorETag(collector: SimulatedCollector): string {
  return `"${hashHex(JSON.stringify(collector.facts), 32)}"`;
}
