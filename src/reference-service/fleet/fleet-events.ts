import type { EpochMs } from '../../base/time.ts';
import type { FleetEvent } from '../scenario/happenings.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { type MatchCandidate, type ResolvedMatch, resolveMatch } from './collector-match.ts';
import type { SimulatedCollector } from './simulated-collector.ts';

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

export function asCandidate({ facts, life }: SimulatedCollector): MatchCandidate {
  return { facts, version: life.version };
}
