import type { ApiBudget } from '../orchestrator/api-budget.ts';

/**
 * A budget that grants nothing any more once `stopping` is aborted: what waits for its place goes home unsent, while
 * what is already out still gets its answer.
 */
export function makeStoppableBudget(budget: ApiBudget, stopping: AbortSignal): ApiBudget {
  return {
    take: (budgetClass, signal) =>
      budget.take(budgetClass, signal === undefined ? stopping : AbortSignal.any([signal, stopping])),
    pause: (pause) => budget.pause(pause),
    serviceDown: (reason) => budget.serviceDown(reason),
    serviceUp: () => budget.serviceUp(),
    succeeded: () => budget.succeeded(),
  };
}
