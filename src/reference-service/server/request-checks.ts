import { invariant } from '../../base/assert.ts';
import type { Clock, DurationMs } from '../../base/time.ts';
import { createSearchJob } from '../../contract/collector-management/search-jobs.ts';
import { createUpgradeTask } from '../../contract/collector-management/upgrades.ts';
import type { Operation } from '../../contract/operation.ts';
import type { CutOff, HttpAnswer, HttpRequest } from '../../http/operation-handlers.ts';
import type { Account, Caller, Callers } from '../api/callers.ts';
import type { ErrorAnswers } from '../api/error-answers.ts';
import type { ServiceRecord } from '../api/service-record.ts';
import { controlPath, openOperations } from '../control/control-api.ts';
import { serviceRefusal } from '../fleet/refusals.ts';
import type { AccessKey } from '../scenario/account-scenario.ts';
import { RefusedRequest } from '../scenario/refused-request.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { type Authentication, basicCredentials, sessionCookieName } from './authentication.ts';
import type { Deployments } from './deployments.ts';
import { askedFault, faultHeader, faultNames, type HttpFaults, playFault } from './http-faults.ts';
import { Latency } from './latency.ts';
import { RateLimit } from './rate-limit.ts';
import { SlidingWindow } from './sliding-window.ts';

export interface RequestChecksParts {
  readonly scenario: Scenario;
  /** The service's clock, for the `Date` header. */
  readonly clock: Clock;
  /** Rates are measured in real seconds, each with `speed` times as many requests. */
  readonly realClock: Clock;
  readonly speed: number;
  readonly authentication: Authentication;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly deployments: Deployments;
  readonly callers: Callers;
  readonly errors: ErrorAnswers;
  readonly faults: HttpFaults;
  readonly record: ServiceRecord;
  /** Waits in the service's time. */
  readonly wait: (durationMs: DurationMs) => Promise<void>;
}

type Next = () => Promise<HttpAnswer>;

/**
 * The checks of every request before its handler: deployment, sign-in, rate, concurrency, content type, faults, permission.
 */
export class RequestChecks {
  readonly #parts: RequestChecksParts;
  readonly #arrivals = new SlidingWindow(1_000);
  readonly #limitByUser = new Map<string, RateLimit>();
  readonly #openByKey = new Map<string, number>();
  readonly #latency: Latency;

  constructor(parts: RequestChecksParts) {
    this.#parts = parts;
    this.#latency = new Latency(parts.scenario);
  }

  readonly around = async (request: HttpRequest, next: Next): Promise<HttpAnswer | CutOff> => {
    const { authentication, clock, record } = this.#parts;
    if (request.operation?.path.startsWith(controlPath) === true) {
      const isKnown = () => authentication.isRight(basicCredentials(request.headers.authorization));
      return openOperations.has(request.operation.name) || isKnown() ? next() : this.#unauthorized();
    }
    this.#noteArrival();
    const answer = await this.#pass(request, next);
    record.answered(request, 'cutOff' in answer ? 'cut' : answer.status);
    if ('cutOff' in answer) return answer;
    return { ...answer, headers: { ...answer.headers, date: new Date(clock.now()).toUTCString() } };
  };

  async #pass(request: HttpRequest, next: Next): Promise<HttpAnswer | CutOff> {
    const { accounts, authentication, callers, errors, record } = this.#parts;
    const moved = this.#rightAddress(request);
    if (moved !== undefined) {
      const failure = new RefusedRequest(301, 'moved', `the account lives at ${moved}`);
      return errors.of(failure, { location: moved });
    }
    const signIn = authentication.identify(request);
    if (signIn.kind !== 'known') {
      if (signIn.kind !== 'noCredentials') record.signIns[signIn.kind]++;
      return this.#unauthorized();
    }
    const { key, sessionId, isNewSession, broughtCookie } = signIn;
    if (isNewSession) record.signIns.accepted++;
    const account = accounts.get(key.account);
    invariant(account !== undefined, 'every key names an account of the scenario');
    callers.note(request, { account, may: key.may, sessionId, broughtCookie });
    const answer = await this.#limited(key, request, next);
    // Creating a search job always sets the cookie, because later calls must carry it (collector-api.md §4.5).
    const isGiven = isNewSession || request.operation?.name === createSearchJob.name;
    if ('cutOff' in answer || !isGiven) return answer;
    const cookie = `${sessionCookieName}=${sessionId}; Path=/; HttpOnly`;
    return { ...answer, headers: { ...answer.headers, 'set-cookie': cookie } };
  }

  /** Found by the host, then by the account. The access id alone names the account, so this is no sign-in. */
  #rightAddress(request: HttpRequest): string | undefined {
    const { accounts, authentication, deployments } = this.#parts;
    const moved = deployments.movedTo(request);
    if (moved !== undefined) return moved;
    const key = authentication.claimedKey(request.headers);
    const account = key === undefined ? undefined : accounts.get(key.account);
    return account === undefined ? undefined : deployments.rightAddress(request, account.deployment);
  }

  /** Limits the rate per user and the concurrency per key (collector-api.md §8). Refused requests do not count. */
  async #limited(key: AccessKey, request: HttpRequest, next: Next): Promise<HttpAnswer | CutOff> {
    const { record, scenario, realClock } = this.#parts;
    const { concurrentRequests } = scenario.limits;
    const { accessId } = key;
    const limit = this.#limitOf(key);
    const realNow = realClock.now();
    if (!limit.allows(realNow)) {
      record.throttled.rate++;
      return this.#tooMany();
    }
    const open = this.#openByKey.get(accessId) ?? 0;
    if (concurrentRequests !== null && open >= concurrentRequests) {
      record.throttled.concurrency++;
      return this.#tooMany();
    }
    limit.add(realNow);
    this.#openByKey.set(accessId, open + 1);
    record.concurrentRequestsMax = Math.max(record.concurrentRequestsMax, open + 1);
    try {
      return await this.#served(request, next);
    } finally {
      this.#openByKey.set(accessId, (this.#openByKey.get(accessId) ?? 1) - 1);
    }
  }

  #limitOf({ account, user }: AccessKey): RateLimit {
    const { scenario, speed } = this.#parts;
    const name = JSON.stringify([account, user]);
    const known = this.#limitByUser.get(name);
    if (known !== undefined) return known;
    const limit = new RateLimit((scenario.limits.requestsPerSecond ?? Number.POSITIVE_INFINITY) * speed);
    this.#limitByUser.set(name, limit);
    return limit;
  }

  async #served(request: HttpRequest, next: Next): Promise<HttpAnswer | CutOff> {
    const { callers, clock, errors, faults, record, scenario, wait } = this.#parts;
    if (isWrongType(request, scenario.strictContentType)) {
      return errors.of(
        new RefusedRequest(415, 'contenttype.invalid', 'the content type must be application/json'),
      );
    }
    const { operation } = request;
    const latencyMs = this.#latency.next();
    if (latencyMs > 0) await wait(latencyMs);
    const asked = askedFault(request);
    if (asked === 'unknown') {
      const message = `the header ${faultHeader} names none of ${faultNames.join(', ')}`;
      return errors.of(new RefusedRequest(400, 'fault.invalid', message));
    }
    const fault = asked ?? (operation === undefined ? undefined : faults.strike(operation.name, clock.now()));
    const permitted = () => this.#permitted(request, next);
    if (fault === undefined) return permitted();
    record.playedFault(fault.fault);
    return playFault(fault, {
      next: permitted,
      show: (lists) => callers.note(request, { ...callers.of(request), ...lists }),
      ...{ errors, wait, unauthorized: () => this.#unauthorized() },
    });
  }

  async #permitted(request: HttpRequest, next: Next): Promise<HttpAnswer> {
    const { callers, errors, record } = this.#parts;
    const { operation } = request;
    const failure = operation === undefined ? undefined : permissionRefusal(operation, callers.of(request));
    if (failure === undefined) return next();
    record.refused(operation, failure);
    return errors.of(failure);
  }

  #noteArrival(): void {
    const { record, realClock } = this.#parts;
    const realNow = realClock.now();
    this.#arrivals.add(realNow);
    record.requestsInOneSecondMax = Math.max(record.requestsInOneSecondMax, this.#arrivals.count(realNow));
  }

  /** A throttled sign-in looks exactly like a wrong key (collector-api.md §5.3). */
  #unauthorized(): HttpAnswer {
    return this.#parts.errors.of(
      new RefusedRequest(401, 'unauthorized', 'the credential could not be verified'),
      { 'www-authenticate': 'Basic realm="Collector Management Service"' },
    );
  }

  #tooMany(): HttpAnswer {
    const { errors, scenario } = this.#parts;
    const { retryAfter } = scenario.limits;
    return errors.of(
      new RefusedRequest(429, 'rate.limit.exceeded', 'too many requests'),
      retryAfter === null ? {} : { 'retry-after': String(Math.ceil(retryAfter / 1_000)) },
    );
  }
}

/**
 * Only upgrade operations check the content type (collector-api.md §4.3). A GET without one is accepted, as real clients
 * send it (field-facts.md, The wire), unless `strict` is set.
 */
function isWrongType(request: HttpRequest, strict: boolean): boolean {
  if (!request.path.includes('/collectors/upgrades')) return false;
  const stated = request.headers['content-type'];
  if (stated === undefined) return strict || (request.method !== 'GET' && request.hasBody);
  return stated.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json';
}

/** Checks the caller's rights (collector-api.md §5.2, §5.6, §7.5). @returns the refusal, or undefined when it is allowed */
function permissionRefusal(operation: Operation, caller: Caller): RefusedRequest | undefined {
  if (operation.path.startsWith('/search/')) {
    return caller.account.enterprise ? undefined : serviceRefusal('forbidden');
  }
  if (caller.may === 'manage') return undefined;
  if (operation.method === 'GET') return caller.may === 'view' ? undefined : serviceRefusal('forbidden');
  if (operation.name === createUpgradeTask.name) return serviceRefusal('collector.invalid');
  // The source endpoints do not have the code for collectors (§7.4).
  return operation.path.includes('/sources')
    ? serviceRefusal('forbidden')
    : serviceRefusal('CannotModifyCollector');
}
