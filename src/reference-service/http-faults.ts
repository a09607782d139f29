import type { EpochMs } from '../base/time.ts';
import { hashShare } from './random.ts';
import type { HttpFault, Scenario } from './scenario.ts';

/** Says which request meets a fault: by seed, operation and its number, so that a run can be repeated. */
export class HttpFaults {
  readonly #faults: readonly HttpFault[];
  readonly #seed: string;
  readonly #startedAt: EpochMs;
  readonly #requests = new Map<string, number>();

  constructor(scenario: Scenario, startedAt: EpochMs) {
    this.#faults = scenario.httpFaults;
    this.#seed = scenario.fleet.seed;
    this.#startedAt = startedAt;
  }

  strike(operation: string, now: EpochMs): HttpFault | undefined {
    const number = (this.#requests.get(operation) ?? 0) + 1;
    this.#requests.set(operation, number);
    const sinceStartMs = now - this.#startedAt;
    return this.#faults.find(
      (fault, index) =>
        (fault.operations === undefined || fault.operations.includes(operation)) &&
        sinceStartMs >= fault.from &&
        sinceStartMs < (fault.until ?? Infinity) &&
        hashShare(`${this.#seed}:fault:${index}:${operation}:${number}`) < fault.share,
    );
  }
}
