import {
  type ApiBudget,
  type BudgetClass,
  type BudgetGrant,
  PausedTooLong,
} from '../../orchestrator/ports/api-budget.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';

/** Waits for a place in the budget. A failure means that nothing was sent. */
export async function takeGrant(
  budget: ApiBudget,
  call: { readonly budgetClass: BudgetClass; readonly signal?: AbortSignal | undefined },
): Promise<Answer<BudgetGrant>> {
  try {
    const grant = await unlessAborted(budget.take(call.budgetClass, call.signal), call.signal);
    if (grant === undefined) return { ok: false, failure: { kind: 'cancelled', sent: false } };
    return { ok: true, value: grant };
  } catch (error) {
    if (!(error instanceof PausedTooLong)) throw error;
    return { ok: false, failure: { kind: 'unavailable', sent: false, detail: error.message } };
  }
}

/** @returns undefined when the wait was aborted, by this signal or by the daemon's stop */
export async function unlessAborted<T>(
  wait: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T | undefined> {
  try {
    return await wait;
  } catch (error) {
    if (signal?.aborted === true || (error instanceof Error && error.name === 'AbortError')) return undefined;
    throw error;
  }
}
