import type { EpochMs } from '../../base/time.ts';
import type { FleetEvent } from '../scenario/happenings.ts';
import type { Scenario } from '../scenario/scenario.ts';
import {
  type MatchCandidate,
  matchesCollector,
  type ResolvedMatch,
  resolveMatch,
} from './collector-match.ts';
import type { CollectorRegistry } from './collector-registry.ts';
import { advanceCollector, type SimulatedCollector } from './simulated-collector.ts';

/** A planned event of the scenario with its instant. */
export interface DueEvent {
  readonly at: EpochMs;
  readonly event: FleetEvent;
  readonly match: ResolvedMatch;
}

/** The scenario's events by instant, each returned once. */
export class FleetEvents {
  readonly #waiting: DueEvent[];

  constructor(parts: {
    readonly scenario: Scenario;
    readonly startedAt: EpochMs;
    readonly upgradable: readonly MatchCandidate[];
  }) {
    const { scenario, startedAt, upgradable } = parts;
    this.#waiting = scenario.events
      .map((event, index) => ({
        at: startedAt + event.after,
        event,
        match: resolveMatch(event.match, `${scenario.fleet.seed}:event:${index}`, upgradable),
      }))
      .sort((a, b) => a.at - b.at);
  }

  takeDue(now: EpochMs): DueEvent[] {
    const firstLater = this.#waiting.findIndex(({ at }) => at > now);
    return this.#waiting.splice(0, firstLater === -1 ? this.#waiting.length : firstLater);
  }
}

/** The actions of an event, at its own instant. */
interface EventActions {
  readonly collectors: CollectorRegistry;
  readonly kill: (collector: SimulatedCollector) => void;
  readonly remove: (collectorId: number) => void;
  readonly clickUpgrade: (collectorId: number, toVersion: string | undefined) => void;
}

/** Applies an event to each collector of its match. */
export function playEvent({ at, event, match }: DueEvent, actions: EventActions): void {
  const { collectors } = actions;
  if (event.event === 'appears') {
    for (let made = 0; made < event.newcomers && !collectors.isFull(at); made++) collectors.register(at);
    return;
  }
  for (const collector of collectors.all(at)) {
    advanceCollector(collector, at);
    if (matchesCollector(match, asCandidate(collector))) happen(event, collector);
  }

  function happen({ event: kind, toVersion }: FleetEvent, collector: SimulatedCollector): void {
    switch (kind) {
      case 'dies':
        actions.kill(collector);
        return;
      case 'returns':
        collectors.wake(collector, at);
        return;
      case 'vanishes':
        actions.remove(collector.facts.id);
        return;
      case 'humanUpgrade':
        actions.clickUpgrade(collector.facts.id, toVersion);
        return;
      case 'appears':
        return;
    }
  }
}

export function asCandidate({ facts, life }: SimulatedCollector): MatchCandidate {
  return { facts, version: life.version };
}
