import type { EpochMs } from '../../base/time.ts';
import { sourceNameOf } from '../../contract/collector-management/sources.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { matchesGlob } from './collector-match.ts';
import { drawSources } from './drawn-sources.ts';
import type { CollectorSource, SimulatedCollector } from './simulated-collector.ts';

/** The first id of sources created through the API. Drawn ones have lower ids. */
const firstCreatedId = 5_000_000_001;

interface SourceRegistryParts {
  readonly rules: Scenario['sources'];
  readonly seed: string;
  readonly idOffset: number;
}

/** The sources of all collectors of an account. They are alive and deleted with their collector. */
export class SourceRegistry {
  readonly #parts: SourceRegistryParts;
  #createdCount = 0;

  constructor(parts: SourceRegistryParts) {
    this.#parts = parts;
  }

  /** The number of sources created through the API, which determines the next id. */
  get createdCount(): number {
    return this.#createdCount;
  }

  restore(createdCount: number): void {
    this.#createdCount = createdCount;
  }

  /** All sources that are not gone, including stopping ones. */
  of(collector: SimulatedCollector, now: EpochMs): readonly CollectorSource[] {
    collector.sources ??= drawSources(this.#parts.seed, collector.facts);
    if (collector.sources.some((source) => isGone(source, now))) {
      collector.sources = collector.sources.filter((source) => !isGone(source, now));
    }
    return collector.sources;
  }

  find(collector: SimulatedCollector, sourceId: number, now: EpochMs): CollectorSource | undefined {
    return this.of(collector, now).find(({ id }) => id === sourceId);
  }

  /** Names are unique within a collector. A stopping source keeps its name. */
  isNameTaken(collector: SimulatedCollector, name: string | undefined, now: EpochMs): boolean {
    return this.of(collector, now).some(({ stated }) => sourceNameOf(stated) === name);
  }

  add(collector: SimulatedCollector, stated: CollectorSource['stated'], now: EpochMs): CollectorSource {
    const id = firstCreatedId + this.#parts.idOffset + this.#createdCount++;
    const source = { id, stated };
    this.#write(collector, [...this.of(collector, now), source]);
    return source;
  }

  replace(collector: SimulatedCollector, source: CollectorSource, now: EpochMs): void {
    this.#write(
      collector,
      this.of(collector, now).map((present) => (present.id === source.id ? source : present)),
    );
  }

  /** Deletes a source. A cloud-to-cloud source stops first, any other is gone at once (collector-api.md §3). */
  remove(collector: SimulatedCollector, source: CollectorSource, now: EpochMs): void {
    if (this.isCloudToCloud(String(source.stated['sourceType']))) {
      const stoppedAt = source.stoppedAt ?? now + this.#parts.rules.stopping;
      this.replace(collector, { ...source, stoppedAt }, now);
      return;
    }
    this.#write(
      collector,
      this.of(collector, now).filter(({ id }) => id !== source.id),
    );
  }

  /** True for a type that needs a sign-in at another vendor: the API can't create it (collector-api.md §1). */
  needsOAuth(sourceType: string): boolean {
    return this.#parts.rules.needOAuth.some((glob) => matchesGlob(glob, sourceType));
  }

  isCloudToCloud(sourceType: string): boolean {
    return this.#parts.rules.cloudToCloud.some((glob) => matchesGlob(glob, sourceType));
  }

  #write(collector: SimulatedCollector, sources: readonly CollectorSource[]): void {
    collector.sources = sources;
    collector.sourcesWritten = true;
  }
}

function isGone({ stoppedAt }: CollectorSource, now: EpochMs): boolean {
  return stoppedAt !== undefined && now >= stoppedAt;
}
