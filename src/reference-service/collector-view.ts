import type { EpochMs } from '../base/time.ts';
import type { Collector } from '../contract/collector.ts';
import { entityTag } from './entity-tag.ts';
import {
  type CollectorFacts,
  isAlive,
  lastHeartbeatAt,
  type SimulatedCollector,
  settleCollector,
} from './simulated-collector.ts';

/** A collector as the API shows it at an instant (collector-api.md §2.1). */
export function collectorView(collector: SimulatedCollector, now: EpochMs): Collector {
  const { facts } = collector;
  const life = settleCollector(collector, now);
  const shown: Collector = {
    ...lasting(facts),
    alive: isAlive(collector, now),
    collectorVersion: life.version,
    links: [{ rel: 'sources', href: `/v1/collectors/${facts.id}/sources` }],
  };
  if (facts.collectorType === 'Hosted') return shown;
  shown.lastSeenAlive = lastHeartbeatAt(life, now);
  if (collector.showsOsTime && life.kind === 'up') shown.osTime = now - life.upSince;
  return shown;
}

export function collectorETag(collector: SimulatedCollector): string {
  return entityTag(lasting(collector.facts));
}

function lasting({ unknown, ...facts }: CollectorFacts): CollectorFacts {
  return { ...unknown, ...facts, fields: { ...facts.fields } };
}
