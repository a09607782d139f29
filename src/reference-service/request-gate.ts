import type { Clock, DurationMs } from '../base/time.ts';
import type { CutOff, HttpAnswer, HttpRequest } from '../http/http-exchange.ts';
import { type Authentication, basicCredentials, sessionCookieName } from './authentication.ts';
import type { ErrorAnswers } from './error-answers.ts';
import type { HttpFaults } from './http-faults.ts';
import { playFault } from './play-fault.ts';
import { readRecord } from './record-contract.ts';
import type { Scenario } from './scenario.ts';
import { ServiceFailure } from './service-failure.ts';
import type { ServiceRecord } from './service-record.ts';
import { SlidingWindow } from './sliding-window.ts';

export interface RequestGateParts {
  readonly scenario: Scenario;
  /** The service's own time, in the `Date` header. */
  readonly clock: Clock;
  /** Rates are counted in real seconds, `speed` times as many requests fit into one. */
  readonly realClock: Clock;
  readonly speed: number;
  readonly authentication: Authentication;
  readonly errors: ErrorAnswers;
  readonly faults: HttpFaults;
  readonly record: ServiceRecord;
  /** The service's own address, for 301; known once it listens. */
  readonly ownUrl: () => string;
  /** Waits in the service's time. */
  readonly wait: (durationMs: DurationMs) => Promise<void>;
}

type Next = () => Promise<HttpAnswer>;

/** What every request passes before its handler: deployment, content type, sign-in, rate, concurrency, faults. */
export class RequestGate {
  readonly #parts: RequestGateParts;
  readonly #arrivals = new SlidingWindow(1_000);
  readonly #accepted = new SlidingWindow(1_000);
  readonly #openByKey = new Map<string, number>();

  constructor(parts: RequestGateParts) {
    this.#parts = parts;
  }

  readonly around = async (request: HttpRequest, next: Next): Promise<HttpAnswer | CutOff> => {
    const { authentication, clock, record } = this.#parts;
    if (request.operation?.name === readRecord.name) {
      const known = authentication.isRight(basicCredentials(request.headers.authorization));
      return known ? next() : this.#unauthorized();
    }
    this.#noteArrival();
    const answer = await this.#pass(request, next);
    record.answered(request.operation?.name ?? 'unknown', 'cutOff' in answer ? 'cut' : answer.status);
    if ('cutOff' in answer) return answer;
    return { ...answer, headers: { ...answer.headers, date: new Date(clock.now()).toUTCString() } };
  };

  async #pass(request: HttpRequest, next: Next): Promise<HttpAnswer | CutOff> {
    const { authentication, errors, record } = this.#parts;
    const moved = this.#movedTo(request);
    if (moved !== undefined) {
      return errors.flat(new ServiceFailure(301, 'moved', `the account lives at ${moved}`), {
        location: moved,
      });
    }
    const signIn = authentication.identify(request.headers);
    if (signIn.kind !== 'known') {
      if (signIn.kind !== 'noCredentials') record.signIns[signIn.kind]++;
      return this.#unauthorized();
    }
    if (signIn.newSession !== undefined) record.signIns.accepted++;
    const answer = await this.#limited(signIn.accessId, request, next);
    if ('cutOff' in answer || signIn.newSession === undefined) return answer;
    const cookie = `${sessionCookieName}=${signIn.newSession}; Path=/; HttpOnly`;
    return { ...answer, headers: { ...answer.headers, 'set-cookie': cookie } };
  }

  /** Rate over all keys of the user, concurrency for each key (collector-api.md §8). A refused request uses up no rate. */
  async #limited(accessId: string, request: HttpRequest, next: Next): Promise<HttpAnswer | CutOff> {
    const { record, scenario, realClock, speed } = this.#parts;
    const { requestsPerSecond, concurrentRequests } = scenario.limits;
    const realNow = realClock.now();
    if (requestsPerSecond !== null && this.#accepted.count(realNow) >= requestsPerSecond * speed) {
      record.throttled.rate++;
      return this.#tooMany();
    }
    const open = this.#openByKey.get(accessId) ?? 0;
    if (concurrentRequests !== null && open >= concurrentRequests) {
      record.throttled.concurrency++;
      return this.#tooMany();
    }
    this.#accepted.add(realNow);
    this.#openByKey.set(accessId, open + 1);
    record.concurrentRequestsMax = Math.max(record.concurrentRequestsMax, open + 1);
    try {
      return await this.#served(request, next);
    } finally {
      this.#openByKey.set(accessId, (this.#openByKey.get(accessId) ?? 1) - 1);
    }
  }

  async #served(request: HttpRequest, next: Next): Promise<HttpAnswer | CutOff> {
    const { clock, errors, faults, record, scenario, wait } = this.#parts;
    if (isWrongType(request, scenario.strictContentType)) {
      return errors.flat(
        new ServiceFailure(415, 'contenttype.invalid', 'the content type must be application/json'),
      );
    }
    const fault =
      request.operation === undefined ? undefined : faults.strike(request.operation.name, clock.now());
    if (fault === undefined) return next();
    record.playedFault(fault.fault);
    return playFault(fault, { next, errors, wait, unauthorized: () => this.#unauthorized() });
  }

  #noteArrival(): void {
    const { record, realClock } = this.#parts;
    const realNow = realClock.now();
    this.#arrivals.add(realNow);
    record.requestsInOneSecondMax = Math.max(record.requestsInOneSecondMax, this.#arrivals.count(realNow));
  }

  /** A throttled sign-in looks exactly like a wrong key (collector-api.md §5.3). */
  #unauthorized(): HttpAnswer {
    return this.#parts.errors.flat(
      new ServiceFailure(401, 'unauthorized', 'the credential could not be verified'),
      { 'www-authenticate': 'Basic realm="Collector Management Service"' },
    );
  }

  #tooMany(): HttpAnswer {
    const { errors, scenario } = this.#parts;
    const { retryAfter } = scenario.limits;
    return errors.flat(
      new ServiceFailure(429, 'rate.limit.exceeded', 'too many requests'),
      retryAfter === null ? {} : { 'retry-after': String(Math.ceil(retryAfter / 1_000)) },
    );
  }

  #movedTo(request: HttpRequest): string | undefined {
    const { moved } = this.#parts.scenario;
    const host = (request.headers.host ?? '').replace(/:\d+$/, '');
    if (!moved.hosts.includes(host)) return undefined;
    return `${(moved.location ?? this.#parts.ownUrl()).replace(/\/$/, '')}${request.url}`;
  }
}

/**
 * Only upgrade operations refuse a type (collector-api.md §4.3). A GET that states none is served, as real clients
 * send it (field-facts.md, The wire), unless the letter is asked for.
 */
function isWrongType(request: HttpRequest, strict: boolean): boolean {
  if (!request.path.includes('/collectors/upgrades')) return false;
  const stated = request.headers['content-type'];
  if (stated === undefined) return strict || (request.method !== 'GET' && request.hasBody);
  return stated.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json';
}
