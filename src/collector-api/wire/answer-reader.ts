import type { Clock, EpochMs } from '../../base/time.ts';
import type { Operation } from '../../contract/operation.ts';
import type { HttpResult } from '../../http/client.ts';
import type { HttpFault } from '../../http/fault.ts';
import type { BudgetGrant } from '../../orchestrator/ports/api-budget.ts';
import { readServiceTime, unknownServiceClock } from '../../rollout/model/service-clock.ts';
import { describeFailure } from '../../rollout/upgrade/failure-classes.ts';
import { type Move, readMove } from './moved-base-url.ts';
import type { ServiceAddresses } from './service-addresses.ts';
import { failed, type ServedAnswer } from './service-call.ts';
import { type CircuitMark, isUnanswered, type ServiceCircuit } from './service-circuit.ts';
import { retryAfterMsOf, serviceFailureOf, serviceTimeOf } from './service-failure.ts';
import type { ServiceSession } from './service-sessions.ts';
import type { TextKind } from './service-text.ts';
import type { Throttle, ThrottleMark } from './throttle.ts';

/** What came of a request. */
export type Sent<Result> = ServedAnswer<Result> | Move;

/** A request that was sent. */
interface Question {
  readonly session: ServiceSession;
  readonly operation: Operation;
  readonly grant: BudgetGrant;
  readonly begun: Begun;
}

interface Begun {
  readonly sentAt: EpochMs;
  readonly throttle: ThrottleMark;
  readonly circuit: CircuitMark;
}

export interface AnswerParts {
  readonly clock: Clock;
  readonly throttle: Throttle;
  readonly circuit: ServiceCircuit;
  readonly addresses: ServiceAddresses;
  /** Where a 301 may lead (P12). */
  readonly allowedHosts: readonly string[];
  /** Keeps secrets out of texts of the service (P12). */
  readonly hider: (kind: TextKind) => (text: string) => string;
}

/** Turns what came of a request into our words, and learns from it: for the budget, the circuit, the addresses, the clock. */
export function makeAnswerReader(parts: AnswerParts) {
  const { clock, throttle, circuit, addresses, allowedHosts, hider } = parts;
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

  return {
    /** Right before a request leaves: what was learned since says more than its answer. */
    begin: (): Begun => ({ sentAt: clock.now(), throttle: throttle.begin(), circuit: circuit.begin() }),

    async answered<Result>(
      { session, grant, begun }: Question,
      { headers, body }: HttpResult<Result>,
    ): Promise<Sent<Result>> {
      const serviceAt = judgeTime(headers, begun.sentAt);
      session.signedIn();
      addresses.answered(session, true);
      await circuit.answered(begun.circuit, grant);
      await throttle.succeeded(begun.throttle, grant);
      return { ok: true, value: { body, serviceAt, etag: headers.etag ?? null } };
    },

    // The one place where a fault becomes a failure in our words.
    async failed({ session, operation, grant, begun }: Question, fault: HttpFault): Promise<Sent<never>> {
      const failure = serviceFailureOf(fault, operation, hider('words'));
      if (isUnanswered(fault)) {
        addresses.unanswered(session);
        await circuit.unanswered(begun.circuit, grant, describeFailure(failure));
      } else if (fault.kind !== 'aborted') {
        addresses.answered(session, false);
        await circuit.answered(begun.circuit, grant);
      }
      // The status alone shows these, also where the body was cut off.
      const status = fault.kind === 'aborted' ? undefined : fault.status;
      if (status === 301 || status === 308) {
        const at = { operation: operation.name, from: session.baseUrl, configured: addresses.home.baseUrl };
        return readMove(fault, { ...at, allowedHosts }, hider('values'));
      }
      if (status === 401) return failed(await throttle.unauthorized(begun.throttle));
      if (failure.kind === 'throttled')
        await throttle.rateLimited(begun.throttle, retryAfterMsOf(fault.headers, clock.now()));
      // The service itself judged the request, so it knows the key.
      if (failure.kind === 'refused' || failure.kind === 'notFound')
        await throttle.succeeded(begun.throttle, grant);
      if (status === 404 && session !== addresses.home) {
        // Perhaps the redirect led to a wrong place, which knows nothing of what we ask: the configured one is asked next,
        // and nothing is held by what this one said.
        addresses.returnHome();
        if (failure.kind === 'misconfigured')
          return failed({ kind: 'unavailable', sent: true, detail: describeFailure(failure) });
      }
      return failed(failure);
    },
  };
}
