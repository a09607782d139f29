import type { Clock, EpochMs } from '../../base/time.ts';
import type { Operation } from '../../contract/operation.ts';
import type { HttpResult } from '../../http/client.ts';
import type { HttpFault } from '../../http/fault.ts';
import type { BudgetGrant } from '../../orchestrator/ports/api-budget.ts';
import { readServiceTime, unknownServiceClock } from '../../rollout/model/service-clock.ts';
import { describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import { type Move, readMove } from './moved-base-url.ts';
import type { ServiceAddresses } from './service-addresses.ts';
import { failedAnswer, type ServedAnswer } from './service-call.ts';
import { type CircuitMark, isUnanswered, type ServiceCircuit } from './service-circuit.ts';
import { retryAfterMsOf, serviceFailureOf, serviceTimeOf } from './service-failure.ts';
import type { ServiceSession } from './service-sessions.ts';
import type { TextKind } from './service-text.ts';
import type { Throttle, ThrottleMark } from './throttle.ts';

/** The service refused the session's cookie, which is forgotten. It has not processed the request. */
export interface SignedOut {
  readonly ok: 'signedOut';
}

/** The result of a request. */
export type Sent<Result> = ServedAnswer<Result> | Move | SignedOut;

/** A request that was sent. */
interface SentRequest {
  readonly session: ServiceSession;
  readonly operation: Operation;
  readonly grant: BudgetGrant;
  readonly start: RequestStart;
}

interface RequestStart {
  readonly sentAt: EpochMs;
  readonly throttle: ThrottleMark;
  readonly circuit: CircuitMark;
}

export interface AnswerParts {
  readonly clock: Clock;
  readonly throttle: Throttle;
  readonly circuit: ServiceCircuit;
  readonly addresses: ServiceAddresses;
  /** Hosts to which a redirect may lead (P12). */
  readonly allowedHosts: readonly string[];
  /** Keeps secrets out of texts of the service (P12). */
  readonly redactor: (kind: TextKind) => (text: string) => string;
}

/**
 * Turns responses and faults into results, and reports them to the budget, the circuit, the addresses and the service's
 * clock.
 */
export function makeAnswerReader(parts: AnswerParts) {
  const { clock, throttle, circuit, addresses, allowedHosts, redactor } = parts;
  let serviceClock = unknownServiceClock;

  /** The only place where a `Date` header becomes a service time that counts as evidence. */
  function readTime(headers: HttpResult<unknown>['headers'], sentAt: EpochMs): EpochMs | null {
    const answeredAt = clock.now();
    const dateAt = serviceTimeOf(headers, answeredAt);
    if (dateAt === null) return null;
    const judged = readServiceTime(serviceClock, { sentAt, answeredAt, dateAt });
    serviceClock = judged.clock;
    return judged.serviceAt;
  }

  return {
    /**
     * Called right before a request is sent. If something newer is learned before its response, the response does not
     * count.
     */
    begin: ({ jar }: ServiceSession): RequestStart => ({
      sentAt: clock.now(),
      throttle: throttle.begin(jar.hasCookie()),
      circuit: circuit.begin(),
    }),

    async answered<Result>(
      { session, grant, start }: SentRequest,
      { headers, body }: HttpResult<Result>,
    ): Promise<Sent<Result>> {
      const serviceAt = readTime(headers, start.sentAt);
      session.signedIn();
      addresses.answered(session, true);
      await circuit.answered(start.circuit, grant);
      await throttle.succeeded(start.throttle, grant);
      return { ok: true, value: { body, serviceAt, etag: headers.etag ?? null } };
    },

    // The only place where a fault becomes a failure.
    async failed({ session, operation, grant, start }: SentRequest, fault: HttpFault): Promise<Sent<never>> {
      const failure = serviceFailureOf(fault, operation, redactor('words'));
      if (isUnanswered(fault)) {
        addresses.unanswered(session);
        await circuit.unanswered(start.circuit, grant, describeFailure(failure));
      } else if (fault.kind !== 'aborted') {
        addresses.answered(session, false);
        await circuit.answered(start.circuit, grant);
      }
      // The status is enough for these, also when the body was cut off.
      const status = fault.kind === 'aborted' ? undefined : fault.status;
      if (status === 301 || status === 308) {
        const at = { operation: operation.name, from: session.baseUrl, configured: addresses.home.baseUrl };
        return readMove(fault, { ...at, allowedHosts }, redactor('values'));
      }
      if (status === 401) {
        const refusal = await throttle.unauthorized(start.throttle);
        return refusal === undefined ? { ok: 'signedOut' } : failedAnswer(refusal);
      }
      if (failure.kind === 'throttled')
        await throttle.rateLimited(start.throttle, retryAfterMsOf(fault.headers, clock.now()));
      // The service processed the request, so it accepted the key.
      if (failure.kind === 'refused' || failure.kind === 'notFound')
        await throttle.succeeded(start.throttle, grant);
      if (status === 404 && session !== addresses.home) {
        // The redirect may have led to a wrong host, which knows nothing of the request. The next request goes to the
        // configured one, and this response must not cause a hold.
        addresses.returnHome();
        if (failure.kind === 'misconfigured')
          return failedAnswer({ kind: 'unavailable', sent: true, detail: describeFailure(failure) });
      }
      return failedAnswer(failure);
    },
  };
}
