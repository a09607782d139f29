import type { DurationMs, EpochMs } from '../../base/time.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import type { FleetGenerator } from './fleet-generator.ts';
import {
  advanceCollector,
  type CollectorFacts,
  isAlive,
  isDeleted,
  lastHeartbeatAt,
  type SimulatedCollector,
} from './simulated-collector.ts';

/** Collectors created through the API have their own range of ids, so that they don't affect what the generator draws. */
const createdIdOffset = 50_000_000;

/** A deletion of offline collectors starts after a delay, and then deletes one after another. */
const sweepAfterMs: DurationMs = 5_000;
const sweepStepMs: DurationMs = 20;

/** The collectors of an account, in the order of their registration. */
export class CollectorRegistry {
  readonly #generator: FleetGenerator;
  readonly #collectors = new Map<number, SimulatedCollector>();
  readonly #idByName = new Map<string, number>();
  #createdCount = 0;

  constructor(generator: FleetGenerator) {
    this.#generator = generator;
  }

  /** A new collector registers itself. */
  register(now: EpochMs): SimulatedCollector {
    return this.#keep(this.#generator.next(now, (name) => this.named(name, now) !== undefined));
  }

  createHosted(facts: Omit<CollectorFacts, 'id' | 'collectorType'>, now: EpochMs): SimulatedCollector {
    const id = this.#generator.firstId + createdIdOffset + this.#createdCount++;
    return this.#keep({
      facts: { ...facts, id, collectorType: 'Hosted' },
      showsOsTime: false,
      life: { kind: 'up', upSince: now, version: '' },
      pending: [],
      sources: [],
      sourcesWritten: true,
    });
  }

  /** True when the account has the maximum number of collectors. */
  isFull(now: EpochMs): boolean {
    return (
      this.#collectors.size >= serviceLimits.collectorsMax &&
      this.all(now).length >= serviceLimits.collectorsMax
    );
  }

  change(collector: SimulatedCollector, facts: CollectorFacts): void {
    this.#idByName.delete(collector.facts.name);
    collector.facts = facts;
    this.#idByName.set(facts.name, facts.id);
  }

  remove(id: number): void {
    const name = this.#collectors.get(id)?.facts.name;
    if (name !== undefined && this.#idByName.get(name) === id) this.#idByName.delete(name);
    this.#collectors.delete(id);
  }

  /** Starts to delete them one after another. A collector that comes back first is kept. */
  sweep(collectors: readonly SimulatedCollector[], now: EpochMs): void {
    collectors.forEach((collector, index) => {
      const isPlanned = collector.sweep !== undefined && collector.sweep.at > now;
      const at = now + sweepAfterMs + index * sweepStepMs;
      if (!isPlanned) collector.sweep = { orderedAt: now, at };
    });
  }

  /** All collectors that are not deleted. */
  all(now: EpochMs): SimulatedCollector[] {
    const present: SimulatedCollector[] = [];
    for (const collector of this.#collectors.values()) {
      if (isDeleted(collector, now)) this.remove(collector.facts.id);
      else present.push(collector);
    }
    return present;
  }

  /** Installed Collectors that are not alive, and sent no heartbeat for so long. */
  offline(forMs: DurationMs, now: EpochMs): SimulatedCollector[] {
    return this.all(now)
      .filter(({ facts }) => facts.collectorType === 'Installable')
      .filter((collector) => !isAlive(collector, now))
      .filter(({ life }) => now - lastHeartbeatAt(life, now) >= forMs);
  }

  find(id: number, now: EpochMs): SimulatedCollector | undefined {
    const found = this.#collectors.get(id);
    if (found === undefined || !isDeleted(found, now)) return found;
    this.remove(id);
    return undefined;
  }

  /** Names are case-sensitive. */
  named(name: string, now: EpochMs): SimulatedCollector | undefined {
    const id = this.#idByName.get(name);
    return id === undefined ? undefined : this.find(id, now);
  }

  /** A person installs a build on its host: it restarts on that, and no task shows it. */
  install(collector: SimulatedCollector, version: string, now: EpochMs): void {
    advanceCollector(collector, now);
    collector.life = { kind: 'up', upSince: now, version };
  }

  /** Lets it go down for good, and drops its pending events. */
  silence(collector: SimulatedCollector, now: EpochMs): void {
    const life = advanceCollector(collector, now);
    collector.pending = [];
    collector.life = { kind: 'down', lastHeartbeatAt: lastHeartbeatAt(life, now), version: life.version };
  }

  /** Lets it come back if it was down, on its previous build. */
  wake(collector: SimulatedCollector, now: EpochMs): void {
    const { kind, version } = advanceCollector(collector, now);
    if (kind === 'up') return;
    collector.pending = [];
    collector.life = { kind: 'up', upSince: now, version };
  }

  /** The counters for the next ids. */
  get counts(): { readonly drawn: number; readonly created: number } {
    return { drawn: this.#generator.drawnCount, created: this.#createdCount };
  }

  /** Replaces the drawn fleet by a stored one. */
  restore(collectors: readonly SimulatedCollector[], counts: CollectorRegistry['counts']): void {
    this.#collectors.clear();
    this.#idByName.clear();
    for (const collector of collectors) this.#keep(collector);
    this.#generator.skipTo(counts.drawn);
    this.#createdCount = counts.created;
  }

  #keep(collector: SimulatedCollector): SimulatedCollector {
    this.#collectors.set(collector.facts.id, collector);
    this.#idByName.set(collector.facts.name, collector.facts.id);
    return collector;
  }
}
