import type { Clock, EpochMs } from '../../base/time.ts';
import { listUpgradeTargets } from '../../contract/collector-management/upgrades.ts';
import type { Operation } from '../../contract/operation.ts';
import type { HttpResult } from '../../http/client.ts';
import { HttpFault, type HttpFaultKind } from '../../http/fault.ts';
import type { ApiBudget, BudgetGrant } from '../../orchestrator/ports/api-budget.ts';
import { readServiceTime, unknownServiceClock } from '../../rollout/model/service-clock.ts';
import { describeFailure, type ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';
import { type Move, readMove } from './moved-base-url.ts';
import type { ServiceAddresses } from './service-addresses.ts';
import type { ServiceObserver } from './service-call.ts';
import { failed, type ServedAnswer, type ServiceCall } from './service-call.ts';
import { type CircuitMark, isUnanswered, type ServiceCircuit } from './service-circuit.ts';
import { retryAfterMsOf, serviceFailureOf, serviceTimeOf } from './service-failure.ts';
import type { ServiceSession } from './service-sessions.ts';
import type { TextKind } from './service-text.ts';
import { takeGrant } from './take-grant.ts';
import type { Throttle, ThrottleMark } from './throttle.ts';
import { unauthorizedFailure } from './throttle.ts';

type Sent<Result> = ServedAnswer<Result> | Move;

/** Sends one request to one address, and learns from what came of it: for the budget, the circuit, the addresses. */
export interface RequestSender {
  /** @param request makes it leave, by an instant of the monotonic clock where the call has one */
  send<Result>(
    session: ServiceSession,
    operation: Operation,
    call: ServiceCall,
    request: (leaveBy: number | undefined) => Promise<HttpResult<Result>>,
  ): Promise<Sent<Result>>;
}

export interface RequestSenderParts {
  readonly budget: ApiBudget;
  readonly clock: Clock;
  readonly throttle: Throttle;
  readonly circuit: ServiceCircuit;
  readonly addresses: ServiceAddresses;
  /** Where a 301 may lead (P12). */
  readonly allowedHosts: readonly string[];
  readonly observer: ServiceObserver;
  /** Keeps secrets out of texts of the service (P12). */
  readonly hider: (kind: TextKind) => (text: string) => string;
}

/** A service that comes back may go down again right after a probe; more often than this, the call's owner decides. */
const probesMax = 3;

export function makeRequestSender(parts: RequestSenderParts): RequestSender {
  const { budget, clock, throttle, circuit, addresses, allowedHosts, observer, hider } = parts;
  let serviceClock = unknownServiceClock;

  /** The one place where a `Date` becomes a time that something may be proved by. */
  function judgeTime(headers: HttpResult<unknown>['headers'], sentAt: EpochMs): EpochMs | null {
    const answeredAt = clock.now();
    const dateAt = serviceTimeOf(headers, answeredAt);
    if (dateAt === null) return null;
    const judged = readServiceTime(serviceClock, { sentAt, answeredAt, dateAt });
    serviceClock = judged.clock;
    return judged.serviceAt;
  }

  /** Takes the place in the budget last, sends at once, and gives it back with the answer. */
  async function send<Result>(
    session: ServiceSession,
    operation: Operation,
    call: ServiceCall,
    request: (leaveBy: number | undefined) => Promise<HttpResult<Result>>,
  ): Promise<Sent<Result>> {
    for (let probes = 0; probes < probesMax; probes += 1) {
      const taken = await takeGrant(budget, call);
      if (!taken.ok) return taken;
      const grant = taken.value;
      try {
        if (grant.isProbe !== true || operation.idempotent) {
          const leaveBy =
            call.leaveWithinMs === undefined ? undefined : performance.now() + call.leaveWithinMs;
          if (call.beforeSend !== undefined && !(await call.beforeSend()))
            return failed({ kind: 'cancelled', sent: false });
          return await sendGranted(session, operation, call, grant, () => request(leaveBy));
        }
        // What may not be sent twice is no means to find out whether anyone is there: a question goes first.
        const probed = await sendGranted(session, listUpgradeTargets, call, grant, () =>
          session.http.call(listUpgradeTargets, {}, { signal: call.signal }),
        );
        if (probed.ok === 'moved') return probed;
        if (!probed.ok) return failed(unsent(probed.failure));
      } finally {
        grant.giveBack();
      }
    }
    const detail = `${operation.name}: the service answers, and is down again, in turn.`;
    return failed({ kind: 'unavailable', sent: false, detail });
  }

  async function sendGranted<Result>(
    session: ServiceSession,
    operation: Operation,
    { budgetClass }: ServiceCall,
    grant: BudgetGrant,
    request: () => Promise<HttpResult<Result>>,
  ): Promise<Sent<Result>> {
    const marks = { throttle: throttle.begin(), circuit: circuit.begin() };
    const startedAt = performance.now();
    const sentAt = clock.now();
    const tell = (status: number | HttpFaultKind): void =>
      observer.onRequest?.({
        operation: operation.name,
        status,
        durationMs: performance.now() - startedAt,
        budgetWaitMs: grant.waitedMs,
        budgetClass,
      });
    try {
      const { status, headers, body } = await request();
      const serviceAt = judgeTime(headers, sentAt);
      tell(status);
      session.signedIn();
      addresses.answered(session, true);
      await circuit.answered(marks.circuit, grant);
      await throttle.succeeded(marks.throttle, grant);
      return { ok: true, value: { body, serviceAt, etag: headers.etag ?? null } };
    } catch (error) {
      if (!(error instanceof HttpFault)) throw error;
      tell(error.kind === 'status' ? (error.status ?? error.kind) : error.kind);
      return await understand(session, operation, error, marks, grant);
    }
  }

  /** The one place where a fault becomes a failure in our words. */
  async function understand(
    session: ServiceSession,
    operation: Operation,
    fault: HttpFault,
    marks: { readonly throttle: ThrottleMark; readonly circuit: CircuitMark },
    grant: BudgetGrant,
  ): Promise<Sent<never>> {
    const failure = serviceFailureOf(fault, operation, hider('words'));
    if (isUnanswered(fault)) {
      addresses.unanswered(session);
      await circuit.unanswered(marks.circuit, grant, describeFailure(failure));
    } else if (fault.kind !== 'aborted') {
      addresses.answered(session, false);
      await circuit.answered(marks.circuit, grant);
    }
    // These are told by the status alone, also where the body was cut off.
    const status = fault.kind === 'aborted' ? undefined : fault.status;
    if (status === 301 || status === 308) {
      const at = { operation: operation.name, from: session.baseUrl, configured: addresses.home.baseUrl };
      return readMove(fault, { ...at, allowedHosts }, hider('values'));
    }
    if (status === 401) {
      return failed(unauthorizedFailure(await throttle.unauthorized(marks.throttle)));
    }
    if (failure.kind === 'throttled') {
      await throttle.rateLimited(marks.throttle, retryAfterMsOf(fault.headers, clock.now()));
    }
    // The service itself judged the request, so it knows the key.
    if (failure.kind === 'refused' || failure.kind === 'notFound')
      await throttle.succeeded(marks.throttle, grant);
    if (status === 404 && session !== addresses.home) {
      // Perhaps the redirect led to a wrong place, which knows nothing of what we ask: the configured one is asked next,
      // and nothing is held by what this one said.
      addresses.returnHome();
      if (failure.kind === 'misconfigured')
        return failed({ kind: 'unavailable', sent: true, detail: describeFailure(failure) });
    }
    return failed(failure);
  }

  return { send };
}

/** What the failure of a question means for the request that was to follow it. */
function unsent(failure: ServiceFailure): ServiceFailure {
  // Nothing was asked of what the request is about.
  if (failure.kind === 'notFound')
    return { kind: 'unavailable', sent: false, detail: describeFailure(failure) };
  return 'sent' in failure ? { ...failure, sent: false } : failure;
}
