import type { DurationMs } from '../../base/time.ts';
import { makeRandom, type Random } from '../scenario/random.ts';
import type { Scenario } from '../scenario/scenario.ts';

/** How long the service takes for a request before it works on it, drawn from the seed, one request after the other. */
export class Latency {
  readonly #latency: Scenario['latency'];
  readonly #random: Random;

  constructor({ latency, fleet }: Pick<Scenario, 'latency' | 'fleet'>) {
    this.#latency = latency;
    this.#random = makeRandom(`latency:${fleet.seed}`);
  }

  /** 0 without a latency in the scenario. */
  next(): DurationMs {
    return this.#latency === null ? 0 : Math.round(this.#random.logNormal(this.#latency));
  }
}
