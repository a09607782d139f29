import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { HttpFaultKind } from '../../http/fault.ts';
import type { BudgetClass } from '../../orchestrator/ports/api-budget.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

/** Options of a call to the service. */
export interface ServiceCall {
  readonly budgetClass: BudgetClass;
  /** Called right before the request is sent. */
  readonly onSend?: (() => void) | undefined;
  /** How long after its place in the budget was reserved it may be sent. Later it ends as `cancelled`, unsent. */
  readonly leaveWithinMs?: DurationMs | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The ETag of a previous GET, for an update (collector-api.md §4.4). */
  readonly ifMatch?: string | undefined;
  /** Set for a name with a period (collector-api.md §4.1, Rules for Get by name). */
  readonly trailingSlash?: boolean | undefined;
}

interface Served<Body> {
  readonly body: Body;
  /** The service's time at the response; null without one that counts as evidence (`service-clock.ts`). */
  readonly serviceAt: EpochMs | null;
  /** Verbatim, with quotes; null without one. */
  readonly etag: string | null;
}

export type ServedAnswer<Body> = Answer<Served<Body>>;

interface Failed {
  readonly ok: false;
  readonly failure: ServiceFailure;
}

export function failedAnswer(failure: ServiceFailure): Failed {
  return { ok: false, failure };
}

/** Observes traffic. It must not throw, and gets no secrets. */
export interface ServiceObserver {
  readonly onRequest?: (request: RequestSeen) => void;
  readonly onThrottled?: (throttled: {
    readonly reason: '429' | '401';
    readonly pauseMs: DurationMs;
  }) => void;
  /** Called once for each allowed host to which the service redirected. The config should name this base URL. */
  readonly onMoved?: (baseUrl: string) => void;
  /** Called once for each proxy that requests go through, with its address without credentials. */
  readonly onProxy?: (proxy: string) => void;
}

/** One sent request, answered or not. */
export interface RequestSeen {
  readonly operation: string;
  /** The HTTP status, or why there was no usable response. */
  readonly status: number | HttpFaultKind;
  readonly durationMs: DurationMs;
  readonly budgetWaitMs: DurationMs;
  readonly budgetClass: BudgetClass;
}
