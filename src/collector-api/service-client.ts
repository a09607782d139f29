import { basicToken } from '../base/basic-token.ts';
import type { Clock, DurationMs, EpochMs } from '../base/time.ts';
import type { Operation } from '../contract/operation.ts';
import { listUpgradeTargets } from '../contract/upgrade-operations.ts';
import type { CallInput, HttpResult } from '../http/client.ts';
import { HttpFault, type HttpFaultKind } from '../http/http-fault.ts';
import type { Answer } from '../orchestrator/ports/answer.ts';
import type { ApiBudget, BudgetClass, BudgetGrant, KeyMemory } from '../orchestrator/ports/api-budget.ts';
import { describeFailure, type ServiceFailure } from '../rollout/failure-classes.ts';
import { normalBaseUrl } from './moved-base-url.ts';
import { type Move, readMove } from './read-move.ts';
import { makeServiceAddresses } from './service-addresses.ts';
import { type CircuitMark, isUnanswered, makeServiceCircuit } from './service-circuit.ts';
import { retryAfterMsOf, serviceFailureOf, serviceTimeOf } from './service-failure.ts';
import { makeHider, type TextKind } from './service-secrets.ts';
import { openServiceSession, type ServiceSession } from './service-session.ts';
import { takeGrant } from './take-grant.ts';
import { makeThrottle, type ThrottleMark } from './throttle.ts';
import { unauthorizedFailure } from './unauthorized-failure.ts';
import { unlessAborted } from './unless-aborted.ts';

export interface ServiceClientParts {
  readonly baseUrl: string;
  readonly accessId: string;
  readonly accessKey: string;
  /** Where a 301 may lead: host names with `*` for one label (P12). */
  readonly allowedHosts: readonly string[];
  /** From the send to the answer's last byte. */
  readonly requestTimeoutMs: DurationMs;
  /** More than requests allowed at once, so that none waits for a socket with its grant in hand. */
  readonly connectionsMax?: number;
  readonly budget: ApiBudget;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Shortens pauses for a service whose time runs faster; 1 in production. */
  readonly pauseScale?: number;
  /** Without it, a first 401 is always taken for a wrong key. */
  readonly keyMemory?: KeyMemory;
  /** PEM of authorities that are trusted beside the public ones. */
  readonly ca?: string | undefined;
  readonly observer?: ServiceObserver;
}

/** Who is told about the traffic; must not throw. Nothing of it is secret. */
interface ServiceObserver {
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

export interface ServiceCall {
  readonly budgetClass: BudgetClass;
  /** Runs with the grant in hand, right before the request leaves; when it answers false, nothing is sent. */
  readonly beforeSend?: (() => Promise<boolean>) | undefined;
  /** How long after `beforeSend` was asked it may still leave; later, nothing is sent, and it ends as `cancelled`. */
  readonly leaveWithinMs?: DurationMs | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The ETag of a previous GET, for an update (collector-api.md §4.4). */
  readonly ifMatch?: string | undefined;
  /** A name with a period needs a slash after it (collector-api.md §4.1, Rules for Get by name). */
  readonly trailingSlash?: boolean | undefined;
}

interface Served<Body> {
  readonly body: Body;
  /** The service's clock at the answer, where it told. */
  readonly serviceAt: EpochMs | null;
  /** As it came, quotes included; null when the answer had none. */
  readonly etag: string | null;
}

export type ServedAnswer<Body> = Answer<Served<Body>>;

/** Speaks to the Collector Management Service. Failures are data; what it throws is a bug of ours, or the budget's. */
export interface ServiceClient {
  call<Params, Query, Body, Result>(
    operation: Operation<Params, Query, Body, Result>,
    input: CallInput<NoInfer<Params>, NoInfer<Query>, NoInfer<Body>>,
    call: ServiceCall,
  ): Promise<ServedAnswer<Result>>;
  /** Makes what keeps credentials, and the cookies of now, out of texts that came in an answer (P12). */
  hider(kind: TextKind): (text: string) => string;
  /** Cuts what is open; those calls end as `cancelled`. */
  close(): Promise<void>;
}

/** One move brings to the right deployment; a chain of them is a mistake in someone's setup. */
const movesMax = 3;

/** A service that comes back may go down again right after a probe; more often than this, the call's owner decides. */
const probesMax = 3;

type Sent<Result> =
  | ServedAnswer<Result>
  | Move
  /** A 404 of a place to which a redirect led: perhaps of a wrong one, which knows nothing of what we ask. */
  | { readonly ok: 'strayed'; readonly failure: ServiceFailure };

/** @throws when the base URL is no http(s) URL or carries credentials */
export function makeServiceClient(parts: ServiceClientParts): ServiceClient {
  const { accessId, accessKey, budget, clock, observer = {} } = parts;
  const throttle = makeThrottle({
    budget,
    random: parts.random,
    pauseScale: parts.pauseScale ?? 1,
    keyMemory: parts.keyMemory,
    onThrottled: (throttled) => observer.onThrottled?.(throttled),
  });
  const circuit = makeServiceCircuit(budget);
  const sessions: ServiceSession[] = [];
  const sessionAt = (baseUrl: string): ServiceSession => {
    const open = sessions.find((session) => session.baseUrl === baseUrl);
    if (open !== undefined) return open;
    const session = openServiceSession({
      baseUrl,
      accessId,
      accessKey,
      requestTimeoutMs: parts.requestTimeoutMs,
      connectionsMax: parts.connectionsMax ?? 16,
      ca: parts.ca,
      clock,
    });
    sessions.push(session);
    return session;
  };
  const addresses = makeServiceAddresses(sessionAt(normalBaseUrl(parts.baseUrl)));

  const credentials = [accessId, accessKey, basicToken({ name: accessId, password: accessKey })];
  const hider = (kind: TextKind): ((text: string) => string) => {
    return makeHider([...credentials, ...sessions.flatMap(({ jar }) => jar.secrets())], kind);
  };

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
        if (probed.ok === 'strayed') {
          const detail = describeFailure(probed.failure);
          return failed({ kind: 'unavailable', sent: false, detail });
        }
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
      tell(status);
      session.signedIn();
      addresses.answered(session, true);
      await circuit.answered(marks.circuit, grant);
      await throttle.succeeded(marks.throttle, grant);
      return {
        ok: true,
        value: { body, serviceAt: serviceTimeOf(headers, clock.now()), etag: headers.etag ?? null },
      };
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
      const { allowedHosts } = parts;
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
    return status === 404 && session !== addresses.home ? { ok: 'strayed', failure } : failed(failure);
  }

  return {
    async call(operation, input, call) {
      let doubted: ServiceFailure | undefined;
      for (let moves = 0; moves <= movesMax; moves += 1) {
        const session = doubted === undefined ? addresses.current() : addresses.home;
        const entry = await unlessAborted(session.gate.enter(call.signal), call.signal);
        if (entry === undefined) return failed({ kind: 'cancelled', sent: false });
        if (entry.kind === 'failed') {
          const kept = failed(entry.failure);
          return doubted === undefined ? kept : secondOpinion(doubted, kept);
        }
        let signInFailure: ServiceFailure | undefined;
        try {
          // Another request learned of a move while this one waited at the gate.
          if (doubted === undefined && session !== addresses.current()) continue;
          const sent = await send(session, operation, call, (leaveBy) =>
            session.http.call(operation, input, {
              signal: call.signal,
              leaveBy,
              headers: call.ifMatch === undefined ? {} : { 'if-match': call.ifMatch },
              trailingSlash: call.trailingSlash,
            }),
          );
          if (sent.ok === false || sent.ok === 'strayed') signInFailure = sent.failure;
          if (doubted !== undefined) {
            if (isOwnWord(sent)) addresses.returnHome();
            return secondOpinion(doubted, sent);
          }
          if (sent.ok === 'strayed') {
            // The configured address is asked for a second opinion before its word ends or holds anything (P13).
            doubted = sent.failure;
            if (operation.idempotent) continue;
            return failed(doubted);
          }
          if (sent.ok !== 'moved') return sent;
          if (addresses.current() === session) {
            addresses.moveTo(sessionAt(sent.to));
            observer.onMoved?.(sent.to);
          }
          // The permission to send was given for one send: a create comes back for a new one (P4).
          if (!operation.idempotent) return failed(movedCreate(sent.to));
        } finally {
          if (entry.kind === 'signIn') entry.done(signInFailure);
        }
      }
      if (doubted !== undefined) return failed(doubted);
      const last = addresses.current().baseUrl;
      const detail = `The service redirected ${movesMax + 1} times in a row, last from ${last}. Check service.baseUrl.`;
      return failed({ kind: 'misconfigured', detail });
    },
    hider,
    close: async () => {
      await Promise.all(sessions.map(({ http }) => http.close()));
    },
  };
}

interface Failed {
  readonly ok: false;
  readonly failure: ServiceFailure;
}

function failed(failure: ServiceFailure): Failed {
  return { ok: false, failure };
}

/** What is true of a doubted 404: the second answer, or that one tries again; without one, the 404 stands. */
function secondOpinion<Result>(doubted: ServiceFailure, second: Sent<Result>): ServedAnswer<Result> {
  if (second.ok === 'moved' || second.ok === 'strayed') return failed(doubted);
  if (second.ok) return second;
  const isNone = second.failure.kind === 'unavailable' || second.failure.kind === 'misconfigured';
  return isNone ? failed(doubted) : second;
}

/** Whether a place served what was asked for, or judged it. */
function isOwnWord<Result>(sent: Sent<Result>): sent is ServedAnswer<Result> {
  if (sent.ok === 'moved' || sent.ok === 'strayed') return false;
  return sent.ok || sent.failure.kind === 'notFound' || sent.failure.kind === 'refused';
}

/** What the failure of a question means for the request that was to follow it. */
function unsent(failure: ServiceFailure): ServiceFailure {
  return 'sent' in failure ? { ...failure, sent: false } : failure;
}

function movedCreate(to: string): ServiceFailure {
  return {
    kind: 'unavailable',
    sent: false,
    detail: `The service moved to ${to}, which is used from now on.`,
  };
}
