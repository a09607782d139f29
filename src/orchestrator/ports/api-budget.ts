import type { DurationMs } from '../../base/time.ts';
import type { ApiBudgetStatus } from '../../rollout/status/api-budget-status.ts';

/** Who goes first when requests wait for the budget (DESIGN §3, The API budget). */
export type BudgetClass = 'operator' | 'verify' | 'create' | 'poll' | 'page';

/**
 * One budget per access key, shared by all daemons (P8). A grant is a place in the request rate and one of the
 * concurrent requests; it is taken last, right before the send, and given back when the answer is in.
 */
export interface ApiBudget {
  /**
   * Waits for a grant.
   * @throws the signal's reason when it is aborted first
   * @throws PausedTooLong when all calls wait, and this one has waited for as long as one may
   */
  take(budgetClass: BudgetClass, signal?: AbortSignal): Promise<BudgetGrant>;
  /**
   * Pauses every daemon on this key: for as long as the service asked, or longer, since pauses grow until a success.
   * `forMs` is 0 where it did not ask. After a 429 the rate is lower, and grows again by itself. `single`: a throttled
   * sign-in; after the pause one request at a time, until one succeeds.
   * @returns how long the pause lasts
   */
  pause(pause: { readonly forMs: DurationMs; readonly single: boolean }): Promise<DurationMs>;
  /**
   * Reports that request after request brought no usable answer: all daemons wait, and one request at a time tries, after
   * waits that grow, until `serviceUp`. `reason` is shown to people: no secrets in it.
   */
  serviceDown(reason: string): Promise<void>;
  /** Reports that the service answers, if only to refuse: ends what `serviceDown` began. */
  serviceUp(): Promise<void>;
  /** Reports that the service answers normally: ends a `single` phase, and resets the growth of pauses. */
  succeeded(): Promise<void>;
}

/**
 * How the budget stands, as all its daemons made it; costs no request, and changes nothing.
 * @throws when it is unreadable
 */
export type ReadApiBudgetStatus = () => Promise<ApiBudgetStatus>;

/** Whether the service answers, as far as the daemons of one access key know. */
export type ServiceStatus = { readonly isUp: true } | { readonly isUp: false; readonly reason: string };

/**
 * No request waits longer than this while all wait: it occupies a worker, a person, or the scan, and its owner
 * decides again what to do.
 */
export const outageWaitMaxMs: DurationMs = 30_000;

/** Thrown instead of a grant: nothing was sent. */
export class PausedTooLong extends Error {
  override readonly name = 'PausedTooLong';
}

/** Remembers over restarts that an access key has worked, so that its first 401 is known for a throttled sign-in. */
export interface KeyMemory {
  hasWorked(): Promise<boolean>;
  /** Reports that it works now; cheap to repeat. */
  worked(): Promise<void>;
}

export interface BudgetGrant {
  /** How long it was waited for. */
  readonly waitedMs: DurationMs;
  /** Given in a `single` phase, which another daemon may have started: a success must be reported with `succeeded`. */
  readonly single?: boolean;
  /** Given while the service is down, to the one request that tries for all daemons. */
  readonly isProbe?: boolean;
  giveBack(): void;
}
