import type { DurationMs } from '../base/time.ts';
import type { HttpFaultKind } from '../http/http-fault.ts';
import type { BudgetClass } from '../orchestrator/ports/api-budget.ts';

/** Who is told about the traffic; must not throw. Nothing of it is secret. */
export interface ServiceObserver {
  readonly onRequest?: (request: RequestSeen) => void;
  readonly onThrottled?: (throttled: {
    readonly reason: '429' | '401';
    readonly pauseMs: DurationMs;
  }) => void;
  /** A 301 to an allowed host was followed: the config should name this base URL. */
  readonly onMoved?: (baseUrl: string) => void;
}

/** One request that was made, answered or not. */
export interface RequestSeen {
  readonly operation: string;
  /** The answer's status, or why there was no usable one. */
  readonly status: number | HttpFaultKind;
  readonly durationMs: DurationMs;
  readonly budgetWaitMs: DurationMs;
  readonly budgetClass: BudgetClass;
}
