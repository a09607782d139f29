import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { CutOff, HttpAnswer, HttpRequest } from '../../http/operation-handlers.ts';
import type { Caller } from '../api/callers.ts';
import type { ErrorAnswers } from '../api/error-answers.ts';
import { serviceRefusal } from '../fleet/refusals.ts';
import { HttpFault } from '../scenario/happenings.ts';
import { hashShare } from '../scenario/random.ts';
import { RefusedRequest } from '../scenario/refused-request.ts';
import type { Scenario } from '../scenario/scenario.ts';

/** Chooses the requests with faults by seed, operation and number, so that a run can be repeated. */
export class HttpFaults {
  readonly #scenario: Scenario;
  readonly #startedAt: EpochMs;
  readonly #requests = new Map<string, number>();

  constructor(scenario: Scenario, startedAt: EpochMs) {
    this.#scenario = scenario;
    this.#startedAt = startedAt;
  }

  strike(operation: string, now: EpochMs): StruckFault | undefined {
    const number = (this.#requests.get(operation) ?? 0) + 1;
    this.#requests.set(operation, number);
    const { httpFaults, fleet } = this.#scenario;
    const sinceStartMs = now - this.#startedAt;
    const draw = `${fleet.seed}:fault:`;
    const request = `:${operation}:${number}`;
    const index = httpFaults.findIndex(
      (fault, at) =>
        (fault.operations?.some((name) => name === operation) ?? true) &&
        sinceStartMs >= fault.from &&
        sinceStartMs < (fault.until ?? Infinity) &&
        hashShare(`${draw}${at}${request}`) < fault.share,
    );
    const fault = httpFaults[index];
    return fault && { ...fault, draw: `${draw}${index}${request}` };
  }
}

/** A client asks for a fault of this request with it, for a test of its own. */
export const faultHeader = 'reference-fault';
export const faultNames: readonly HttpFault['fault'][] = HttpFault.shape.fault.options;

/** The fault that a request asks for; undefined: none. */
export function askedFault({ headers, url }: HttpRequest): StruckFault | 'unknown' | undefined {
  const asked = headers[faultHeader];
  if (asked === undefined) return undefined;
  const fault = HttpFault.safeParse({ fault: asked, share: 1 });
  return fault.success ? { ...fault.data, draw: url } : 'unknown';
}

/** A fault of one request, with a text of its own for what is drawn. */
interface StruckFault extends HttpFault {
  readonly draw: string;
}

const badGatewayPage =
  '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>';

/** Answers a request with a fault. The scenario's schema says which faults process the request first. */
export async function playFault(
  fault: StruckFault,
  parts: {
    /** Processes the request and returns its response. */
    readonly next: () => Promise<HttpAnswer>;
    /** Lists of this request show these collectors alone, or in another order. */
    readonly show: (lists: Pick<Caller, 'isShown' | 'rankOf'>) => void;
    readonly errors: ErrorAnswers;
    readonly wait: (durationMs: DurationMs) => Promise<void>;
    readonly unauthorized: () => HttpAnswer;
  },
): Promise<HttpAnswer | CutOff> {
  const { errors, next } = parts;
  switch (fault.fault) {
    case '500':
      return errors.of(new RefusedRequest(500, 'internal.error', 'an internal error occurred'));
    case '502html':
      return { status: 502, headers: { 'content-type': 'text/html' }, body: badGatewayPage };
    case '503':
      return errors.of(new RefusedRequest(503, 'service.unavailable', 'the service is unavailable'));
    case '429':
      return errors.of(new RefusedRequest(429, 'rate.limit.exceeded', 'too many requests'), {}, 'list');
    case '401':
      return parts.unauthorized();
    case '404':
      return errors.of(serviceRefusal('InvalidCollector'));
    case 'cutOff':
      return { cutOff: 'beforeHeaders' };
    case 'cutOffMidBody':
      await next();
      return { cutOff: 'midBody' };
    case 'answerLost':
      await next();
      return { cutOff: 'beforeHeaders' };
    case '500AfterWork':
      await next();
      return errors.of(new RefusedRequest(500, 'internal.error', 'an internal error occurred'));
    case 'brokenJson':
      return broken(await next());
    case 'emptyList':
      parts.show({ isShown: () => false });
      return next();
    case 'partialList':
      parts.show({ isShown: (collectorId) => hashShare(`row:${collectorId}`) < fault.keeps });
      return next();
    case 'shuffledList':
      parts.show({ rankOf: (collectorId) => hashShare(`${fault.draw}:${collectorId}`) });
      return next();
    case 'slow': {
      const answer = await next();
      await parts.wait(fault.delay);
      return answer;
    }
  }
}

/** Half of the body with a matching length: valid HTTP with truncated JSON. */
function broken(answer: HttpAnswer): HttpAnswer {
  const text = Buffer.from(JSON.stringify(answer.body ?? {}));
  return {
    ...answer,
    headers: { ...answer.headers, 'content-type': 'application/json' },
    body: text.subarray(0, Math.max(1, Math.floor(text.length / 2))),
  };
}
