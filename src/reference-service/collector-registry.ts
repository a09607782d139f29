import type { EpochMs } from '../base/time.ts';
import type { FleetGenerator } from './fleet.ts';
import {
  isDeleted,
  lastHeartbeatAt,
  type SimulatedCollector,
  settleCollector,
} from './simulated-collector.ts';

/** The collectors of the account, in the order of their ids. */
export class CollectorRegistry {
  readonly #generator: FleetGenerator;
  readonly #collectors = new Map<number, SimulatedCollector>();

  constructor(generator: FleetGenerator) {
    this.#generator = generator;
  }

  /** A new collector registers itself. */
  register(now: EpochMs): SimulatedCollector {
    const collector = this.#generator.next(now);
    this.#collectors.set(collector.facts.id, collector);
    return collector;
  }

  remove(id: number): void {
    this.#collectors.delete(id);
  }

  /** Those that are not deleted. */
  all(now: EpochMs): SimulatedCollector[] {
    return [...this.#collectors.values()].filter((collector) => !isDeleted(collector, now));
  }

  find(id: number, now: EpochMs): SimulatedCollector | undefined {
    const found = this.#collectors.get(id);
    return found === undefined || isDeleted(found, now) ? undefined : found;
  }

  /** It falls silent for good, whatever was to come. */
  silence(collector: SimulatedCollector, now: EpochMs): void {
    const life = settleCollector(collector, now);
    collector.pending = [];
    collector.life = { kind: 'down', lastHeartbeatAt: lastHeartbeatAt(life, now), version: life.version };
  }

  /** It comes back if it was away, on the build it had. */
  wake(collector: SimulatedCollector, now: EpochMs): void {
    const { kind, version } = settleCollector(collector, now);
    if (kind === 'up') return;
    collector.pending = [];
    collector.life = { kind: 'up', upSince: now, version };
  }
}
