import type { EpochMs } from '../../base/time.ts';
import type { FleetEvent } from '../scenario/happenings.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { type MatchCandidate, matchesCollector, type SettledMatch, settleMatch } from './collector-match.ts';
import type { CollectorRegistry } from './collector-registry.ts';
import { type SimulatedCollector, settleCollector } from './simulated-collector.ts';

/** Something the scenario has planned for an instant. */
export interface DueEvent {
  readonly at: EpochMs;
  readonly event: FleetEvent;
  readonly match: SettledMatch;
}

/** The scenario's events in the order of their instants, each handed out once. */
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
        match: settleMatch(event.match, `${scenario.fleet.seed}:event:${index}`, upgradable),
      }))
      .sort((a, b) => a.at - b.at);
  }

  takeDue(now: EpochMs): DueEvent[] {
    const firstLater = this.#waiting.findIndex(({ at }) => at > now);
    return this.#waiting.splice(0, firstLater === -1 ? this.#waiting.length : firstLater);
  }
}

/** What an event may do to the world, at its own instant. */
interface EventHands {
  readonly collectors: CollectorRegistry;
  readonly kill: (collector: SimulatedCollector) => void;
  readonly remove: (collectorId: number) => void;
  readonly clickUpgrade: (collectorId: number, toVersion: string | undefined) => void;
}

/** Lets what the scenario has planned happen, to each collector of its match. */
export function playEvent({ at, event, match }: DueEvent, hands: EventHands): void {
  const { collectors } = hands;
  if (event.event === 'appears') {
    for (let made = 0; made < event.newcomers && !collectors.isFull(at); made++) collectors.register(at);
    return;
  }
  for (const collector of collectors.all(at)) {
    settleCollector(collector, at);
    if (matchesCollector(match, asCandidate(collector))) happen(event, collector);
  }

  function happen({ event: kind, toVersion }: FleetEvent, collector: SimulatedCollector): void {
    switch (kind) {
      case 'dies':
        hands.kill(collector);
        return;
      case 'returns':
        collectors.wake(collector, at);
        return;
      case 'vanishes':
        hands.remove(collector.facts.id);
        return;
      case 'humanUpgrade':
        hands.clickUpgrade(collector.facts.id, toVersion);
        return;
      case 'appears':
        return;
    }
  }
}

export function asCandidate({ facts, life }: SimulatedCollector): MatchCandidate {
  return { facts, version: life.version };
}
