import { type Clocks, startStopwatch } from '../../base/stopwatch.ts';
import { listUpgradeTargets } from '../../contract/collector-management/upgrades.ts';
import type { Operation } from '../../contract/operation.ts';
import type { CallOptions, HttpResult } from '../../http/client.ts';
import { HttpFault, type HttpFaultKind } from '../../http/fault.ts';
import type { ApiBudget, BudgetGrant } from '../../orchestrator/ports/api-budget.ts';
import type { Answer } from '../../orchestrator/ports/fleet-service.ts';
import { describeFailure, type ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';
import { type AnswerParts, makeAnswerReader, type Sent } from './answer-reader.ts';
import type { Move } from './moved-base-url.ts';
import type { ServiceCall, ServiceObserver } from './service-call.ts';
import { failedAnswer } from './service-call.ts';
import type { ServiceSession } from './service-sessions.ts';
import { takeGrant } from './take-grant.ts';

/** Whether a request may still leave when it is connected, and what is called then. */
export type Leaving = Pick<CallOptions, 'mayLeave' | 'onLeave'>;

type Request<Result> = (leaving: Leaving) => Promise<HttpResult<Result>>;

/** A place in the budget for one request. It is used or given up once. */
export interface Place {
  send<Result>(request: Request<Result>): Promise<Sent<Result>>;
  giveUp(): void;
}

export type RequestSender = ReturnType<typeof makeRequestSender>;

export interface RequestSenderParts extends AnswerParts {
  readonly budget: ApiBudget;
  readonly observer: ServiceObserver;
  /** Measure how old a place in the budget is; undefined: the machine's. */
  readonly clocks: Clocks | undefined;
}

/** A service may fail again right after a successful probe. After so many probes the caller decides. */
const probesMax = 3;

/** Sends one request to one address in two phases: first its place in the budget, then the request. */
export function makeRequestSender(parts: RequestSenderParts) {
  const reader = makeAnswerReader(parts);

  async function send<Result>(
    session: ServiceSession,
    operation: Operation,
    { budgetClass }: ServiceCall,
    grant: BudgetGrant,
    request: () => Promise<HttpResult<Result>>,
  ): Promise<Sent<Result>> {
    const sentRequest = { session, operation, grant, start: reader.begin(session) };
    const startedAt = performance.now();
    const report = (status: number | HttpFaultKind): void =>
      parts.observer.onRequest?.({
        operation: operation.name,
        status,
        durationMs: performance.now() - startedAt,
        budgetWaitMs: grant.waitedMs,
        budgetClass,
      });
    try {
      const result = await request();
      report(result.status);
      return await reader.answered(sentRequest, result);
    } catch (error) {
      if (!(error instanceof HttpFault)) throw error;
      report(error.kind === 'status' ? (error.status ?? error.kind) : error.kind);
      return await reader.failed(sentRequest, error);
    }
  }

  function placeOf(
    session: ServiceSession,
    operation: Operation,
    call: ServiceCall,
    grant: BudgetGrant,
  ): Place {
    const ageMs = startStopwatch(parts.clocks);
    const { leaveWithinMs = Number.POSITIVE_INFINITY } = call;
    const leaving: Leaving = { mayLeave: () => ageMs() <= leaveWithinMs, onLeave: grant.left };
    return {
      giveUp: () => grant.giveBack(),
      send: async (request) => {
        try {
          call.onSend?.();
          return await send(session, operation, call, grant, () => request(leaving));
        } finally {
          grant.giveBack();
        }
      },
    };
  }

  /** A request that must not be sent twice can't test whether the service is up, so a read is sent first. */
  async function probe(session: ServiceSession, call: ServiceCall, grant: BudgetGrant) {
    try {
      return await send(session, listUpgradeTargets, call, grant, () =>
        session.http.call(listUpgradeTargets, {}, { signal: call.signal, onLeave: grant.left }),
      );
    } finally {
      grant.giveBack();
    }
  }

  return {
    /** Waits for a place. During an outage, an idempotent request tests the service itself. */
    async reserve(
      session: ServiceSession,
      operation: Operation,
      call: ServiceCall,
    ): Promise<Answer<Place> | Move> {
      for (let probes = 0; probes < probesMax; probes += 1) {
        const taken = await takeGrant(parts.budget, call);
        if (!taken.ok) return taken;
        if (taken.value.isProbe !== true || operation.idempotent)
          return { ok: true, value: placeOf(session, operation, call, taken.value) };
        const probed = await probe(session, call, taken.value);
        if (probed.ok === 'moved') return probed;
        if (probed.ok === 'signedOut') continue;
        if (!probed.ok) return failedAnswer(unsent(probed.failure));
      }
      const detail = `${operation.name}: the service keeps failing right after it recovers.`;
      return failedAnswer({ kind: 'unavailable', sent: false, detail });
    },
  };
}

/** Converts a probe's failure for the request that was to follow. */
function unsent(failure: ServiceFailure): ServiceFailure {
  // The 404 is about the probe, not about the request.
  if (failure.kind === 'notFound')
    return { kind: 'unavailable', sent: false, detail: describeFailure(failure) };
  return 'sent' in failure ? { ...failure, sent: false } : failure;
}
