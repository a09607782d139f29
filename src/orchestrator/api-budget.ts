import type { DurationMs } from '../base/time.ts';

/** Who goes first when requests wait for the budget (DESIGN §3, The API budget). */
export type BudgetClass = 'operator' | 'verify' | 'create' | 'look' | 'page';

/**
 * One budget per access key, shared by all daemons (P8). A grant is a place in the request rate and one of the
 * concurrent requests; it is taken last, right before the send, and given back when the answer is in.
 */
export interface ApiBudget {
  /** Waits for a grant. @throws the signal's reason when it is aborted first */
  take(budgetClass: BudgetClass, signal?: AbortSignal): Promise<BudgetGrant>;
  /** Pauses every daemon on this key. `single`: after the pause one request at a time, until one succeeds. */
  pause(pause: { readonly forMs: DurationMs; readonly single: boolean }): Promise<void>;
  /** Tells that the service answers normally: ends a `single` phase, and resets the growth of pauses. */
  succeeded(): Promise<void>;
}

export interface BudgetGrant {
  /** How long it was waited for. */
  readonly waitedMs: DurationMs;
  /** Given in a `single` phase, which another daemon may have begun: a success must be told with `succeeded`. */
  readonly single?: boolean;
  giveBack(): void;
}
