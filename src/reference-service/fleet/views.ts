import { hashHex } from '../../base/hash.ts';
import type { EpochMs } from '../../base/time.ts';
import type { Collector } from '../../contract/collector-management/collectors.ts';
import { downloadVersionKey, type Source } from '../../contract/collector-management/sources.ts';
import { serviceRefusal } from './refusals.ts';
import {
  advanceCollector,
  type CollectorFacts,
  type CollectorSource,
  isAlive,
  lastHeartbeatAt,
  type SimulatedCollector,
} from './simulated-collector.ts';
import { intakeOf } from './statements.ts';

/** A collector as the API shows it at an instant (collector-api.md §2.1). */
export function collectorView(collector: SimulatedCollector, now: EpochMs): Collector {
  const { facts } = collector;
  const life = advanceCollector(collector, now);
  const view: Collector = lasting(facts);
  view.alive = isAlive(collector, now);
  view.collectorVersion = life.version;
  view.links = [{ rel: 'sources', href: `/v1/collectors/${facts.id}/sources` }];
  if (facts.collectorType === 'Hosted') return view;
  view.lastSeenAlive = lastHeartbeatAt(life, now);
  if (collector.showsOsTime && life.kind === 'up') view.osTime = now - life.upSince;
  return view;
}

export function collectorETag(collector: SimulatedCollector): string {
  return entityTag(lasting(collector.facts));
}

function lasting({ unknown, ...facts }: CollectorFacts): CollectorFacts {
  return { ...unknown, ...facts, fields: { ...facts.fields } };
}

/** A source as the API shows it: the stated fields, and whether it is alive (collector-api.md §2.2). */
export function sourceView(source: CollectorSource, collector: SimulatedCollector, now: EpochMs): Source {
  return {
    id: source.id,
    ...source.stated,
    ...intakeOf(source),
    alive: isAlive(collector, now),
    // The only specified state, for a source that is being deleted (§3).
    ...(source.stoppedAt === undefined ? {} : { state: 'Stopping' }),
  };
}

/** The part of a source for a document that registers another collector. */
export function downloadedSource(source: CollectorSource): Source {
  return { ...source.stated, ...intakeOf(source) };
}

/** The head of a downloaded document (collector-api.md §9). */
export const documentHead = { [downloadVersionKey]: 'v1' } as const;

export function sourceETag({ id, stated }: CollectorSource): string {
  return entityTag({ id, ...stated });
}

/** The `ETag` of the lasting fields: quoted, and independent of the transient ones (field-facts.md, The wire). */
function entityTag(content: object): string {
  const inOrder = Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1));
  return `"${hashHex(JSON.stringify(inOrder), 32)}"`;
}

/** One or more tags of an `If-Match` header. A weak one is valid, but never matches. */
const quotedTags = /^(?:W\/)?"[^"]*"(?:\s*,\s*(?:W\/)?"[^"]*")*$/;

/**
 * Checks `If-Match` (collector-api.md §4.4).
 * @throws RefusedRequest when `If-Match` is missing, not quoted, or names another state than the current one
 */
export function checkIfMatch(ifMatch: string | undefined, current: string): void {
  const stated = ifMatch?.trim() ?? '';
  if (stated === '') throw serviceRefusal('service.ifthen.missing');
  if (!quotedTags.test(stated)) throw serviceRefusal('service.ifthen.notquoted');
  if (!stated.split(/\s*,\s*/).includes(current)) throw serviceRefusal('service.etagid.mismatch');
}
