import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { HttpFaultKind } from '../../http/fault.ts';
import type { BudgetClass } from '../../orchestrator/ports/api-budget.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';

/** What a call to the service brings beside its input. */
export interface ServiceCall {
  readonly budgetClass: BudgetClass;
  /** Called right before the request leaves. */
  readonly onSend?: (() => void) | undefined;
  /** How long after its place in the budget was reserved it may still leave; later, nothing is sent, and it ends as `cancelled`. */
  readonly leaveWithinMs?: DurationMs | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The ETag of a previous GET, for an update (collector-api.md §4.4). */
  readonly ifMatch?: string | undefined;
  /** A name with a period needs a slash after it (collector-api.md §4.1, Rules for Get by name). */
  readonly trailingSlash?: boolean | undefined;
}

interface Served<Body> {
  readonly body: Body;
  /** The service's clock at the answer; null where the answer has none, or one that proves nothing (`service-clock.ts`). */
  readonly serviceAt: EpochMs | null;
  /** As it came, quotes included; null when the answer had none. */
  readonly etag: string | null;
}

export type ServedAnswer<Body> = Answer<Served<Body>>;

/** A request that has its place in the budget, which others wait for. It is sent, or given up, once. */
export interface ReservedRequest<Body> {
  send(): Promise<ServedAnswer<Body>>;
  giveUp(): void;
}

interface Failed {
  readonly ok: false;
  readonly failure: ServiceFailure;
}

export function failed(failure: ServiceFailure): Failed {
  return { ok: false, failure };
}

/** Hears about the traffic; must not throw. Nothing of it is secret. */
export interface ServiceObserver {
  readonly onRequest?: (request: RequestSeen) => void;
  readonly onThrottled?: (throttled: {
    readonly reason: '429' | '401';
    readonly pauseMs: DurationMs;
  }) => void;
  /** A 301 to an allowed host was followed: the config should name this base URL. Once for each. */
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
