import { withEitherSignal } from '../base/with-either-signal.ts';
import type { ApiBudget } from '../orchestrator/ports/api-budget.ts';

/**
 * A budget that grants nothing any more once `stopping` is aborted: what waits for its place goes home unsent, while
 * what is already out still gets its answer.
 */
export function makeStoppableBudget(budget: ApiBudget, stopping: AbortSignal): ApiBudget {
  return {
    take: (budgetClass, signal) =>
      withEitherSignal([signal, stopping], (either) => budget.take(budgetClass, either)),
    pause: (pause) => budget.pause(pause),
    serviceDown: (reason) => budget.serviceDown(reason),
    serviceUp: () => budget.serviceUp(),
    succeeded: () => budget.succeeded(),
  };
}
