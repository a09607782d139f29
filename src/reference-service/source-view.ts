import type { EpochMs } from '../base/time.ts';
import { downloadVersionKey, type Source } from '../contract/source.ts';
import { entityTag } from './entity-tag.ts';
import { type CollectorSource, isAlive, type SimulatedCollector } from './simulated-collector.ts';
import { intakeOf } from './source-intake.ts';

/** A source as the API shows it: what its client stated, and whether it lives (collector-api.md §2.2). */
export function sourceView(source: CollectorSource, collector: SimulatedCollector, now: EpochMs): Source {
  return {
    id: source.id,
    ...source.stated,
    ...intakeOf(source),
    alive: isAlive(collector, now),
    // The only state that the specification names, and only of a source that is being deleted (§3).
    ...(source.stoppedAt === undefined ? {} : { state: 'Stopping' }),
  };
}

/** The part of a source that a document keeps, to register another collector with. */
export function downloadedSource(source: CollectorSource): Source {
  return { ...source.stated, ...intakeOf(source) };
}

/** Stands at the head of a downloaded document (collector-api.md §9). */
export const documentHead = { [downloadVersionKey]: 'v1' } as const;

export function sourceETag({ id, stated }: CollectorSource): string {
  return entityTag({ id, ...stated });
}
