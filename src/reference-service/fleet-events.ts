import type { EpochMs } from '../base/time.ts';
import { type MatchCandidate, type SettledMatch, settleMatch } from './collector-match.ts';
import type { FleetEvent, Scenario } from './scenario.ts';

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
