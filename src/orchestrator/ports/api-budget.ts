import type { DurationMs } from '../../base/time.ts';
import type { ApiBudgetStatus } from '../../contract/admin/rollout-status.ts';

/** Classes of requests, for the order in which they get places (DESIGN §3, The API budget). */
export type BudgetClass = 'operator' | 'verify' | 'create' | 'poll' | 'page';

/**
 * One budget per access key, shared by all daemons (P8). A grant is a place in the request rate and one of the concurrent
 * requests. It is taken right before the request is sent, and returned when the answer has arrived.
 */
export interface ApiBudget {
  /**
   * Waits for a grant.
   * @throws the signal's reason when it is aborted first
   * @throws PausedTooLong when all calls wait, and this one has waited for the maximum time
   */
  take(budgetClass: BudgetClass, signal?: AbortSignal): Promise<BudgetGrant>;
  /**
   * Pauses every daemon on this key, at least for as long as the service demanded. Pauses grow until a success. `forMs` is 0
   * if it demanded nothing. After a 429 the rate is lower, and grows again by itself. `single`: a throttled sign-in. After
   * the pause one request at a time is sent, until one succeeds.
   * @returns how long the pause lasts
   */
  pause(pause: { readonly forMs: DurationMs; readonly single: boolean }): Promise<DurationMs>;
  /**
   * Reports that several requests in a row got no usable answer. All daemons wait, and one request at a time tries, after
   * growing waits, until `serviceUp`. `reason` is shown to people, so it must contain no secret.
   */
  serviceDown(reason: string): Promise<void>;
  /** Reports that the service answers, if only to refuse. It ends the outage that `serviceDown` reported. */
  serviceUp(): Promise<void>;
  /** Reports that the service answers normally: ends a `single` phase, and resets the growth of pauses. */
  succeeded(): Promise<void>;
}

/**
 * The state of the budget, shared by all its daemons. Costs no request, and changes nothing.
 * @throws when it is unreadable
 */
export type ReadApiBudgetStatus = () => Promise<ApiBudgetStatus>;

/** Whether the service answers, as far as the daemons of one access key know. */
export type ServiceStatus = { readonly isUp: true } | { readonly isUp: false; readonly reason: string };

/**
 * During a pause no request waits longer than this, because it occupies a worker, a person or the scan. Its caller then
 * decides again.
 */
export const outageWaitMaxMs: DurationMs = 30_000;

/** Thrown instead of a grant. Nothing was sent. */
export class PausedTooLong extends Error {
  override readonly name = 'PausedTooLong';
}

/** Remembers over restarts that an access key has worked. Then its first 401 is recognised as a throttled sign-in. */
export interface KeyMemory {
  hasWorked(): Promise<boolean>;
  /** Reports that the key works. Repeating it is cheap. */
  worked(): Promise<void>;
}

export interface BudgetGrant {
  /** How long the request waited for it. */
  readonly waitedMs: DurationMs;
  /** Given in a `single` phase, which another daemon may have started: a success must be reported with `succeeded`. */
  readonly single?: boolean;
  /** Given while the service is down, to the one request that tries for all daemons. */
  readonly isProbe?: boolean;
  /** Called when the first byte of the request leaves. A late request moves the places after it. */
  left?(): void;
  giveBack(): void;
}
