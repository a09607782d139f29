import type { Clocks } from '../../base/stopwatch.ts';
import type { Clock, DurationMs } from '../../base/time.ts';
import { basicToken } from '../../base/url-authority.ts';
import type { Operation } from '../../contract/operation.ts';
import type { CallInput } from '../../http/client.ts';
import type { ApiBudget, KeyMemory } from '../../orchestrator/ports/api-budget.ts';
import type { Answer, Reserved } from '../../orchestrator/ports/fleet-service.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';
import type { Sent } from './answer-reader.ts';
import type { Move } from './moved-base-url.ts';
import { makeRequestSender } from './request-sender.ts';
import { makeServiceAddresses } from './service-addresses.ts';
import type { ServiceObserver } from './service-call.ts';
import { failedAnswer, type ServedAnswer, type ServiceCall } from './service-call.ts';
import { makeServiceCircuit } from './service-circuit.ts';
import { makeServiceSessions, openServiceSession, type ServiceSession } from './service-sessions.ts';
import { makeRedactor, type TextKind } from './service-text.ts';
import { makeTakePlace } from './take-place.ts';
import { makeThrottle } from './throttle.ts';

export interface ServiceClientParts {
  /** Without a trailing slash and `/v1`, as in the config. */
  readonly baseUrl: string;
  readonly accessId: string;
  readonly accessKey: string;
  /** Hosts to which a redirect may lead, with `*` for one label (P12). */
  readonly allowedHosts: readonly string[];
  /** From sending to the last byte of the response. */
  readonly requestTimeoutMs: DurationMs;
  /** More than concurrent requests, so that a request with its grant never waits for a socket. */
  readonly connectionsMax?: number;
  readonly budget: ApiBudget;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  /** How long sign-ins pause after a 401. Default: a minute. */
  readonly signInPauseMs?: DurationMs;
  /** Without it, a first 401 always means a wrong key. */
  readonly keyMemory?: KeyMemory;
  /** PEM of authorities that are trusted in addition to the public ones. */
  readonly ca?: string | undefined;
  readonly observer?: ServiceObserver;
  /** Measure until when a create may leave. Default: the machine's. */
  readonly clocks?: Clocks;
}

/**
 * The client of the Collector Management Service. Failures are data; it throws for bugs and errors of the budget only.
 */
export interface ServiceClient {
  call<Params, Query, Body, Result>(
    operation: Operation<Params, Query, Body, Result>,
    input: CallInput<NoInfer<Params>, NoInfer<Query>, NoInfer<Body>>,
    call: ServiceCall,
  ): Promise<ServedAnswer<Result>>;
  /** The first phase of a call: a failure, or a request that has its place in the budget and is ready to be sent. */
  reserve<Params, Query, Body, Result>(
    operation: Operation<Params, Query, Body, Result>,
    input: CallInput<NoInfer<Params>, NoInfer<Query>, NoInfer<Body>>,
    call: ServiceCall,
  ): Promise<Answer<Reserved<ServedAnswer<Result>>>>;
  /** Makes a function that removes credentials and current cookies from texts of responses (P12). */
  redactor(kind: TextKind): (text: string) => string;
  /** Closes all connections. Calls in progress end as `cancelled`. */
  close(): Promise<void>;
}

/** One redirect leads to the right deployment. A chain of them is a mistake in someone's setup. */
const movesMax = 3;

/** @throws when the base URL is no http(s) URL or carries credentials */
export function makeServiceClient(parts: ServiceClientParts): ServiceClient {
  const { accessId, accessKey, budget, clock, observer = {} } = parts;
  const throttle = makeThrottle({
    budget,
    random: parts.random,
    signInPauseMs: parts.signInPauseMs,
    keyMemory: parts.keyMemory,
    onThrottled: (throttled) => observer.onThrottled?.(throttled),
  });
  const { requestTimeoutMs, connectionsMax = 16, ca } = parts;
  const onProxy = onceForEach((proxy) => observer.onProxy?.(proxy));
  const sessions = makeServiceSessions((baseUrl) =>
    openServiceSession({
      baseUrl,
      accessId,
      accessKey,
      requestTimeoutMs,
      connectionsMax,
      ca,
      onProxy,
      clock,
    }),
  );
  const addresses = makeServiceAddresses(sessions.at(parts.baseUrl));

  const keys = [accessKey, basicToken({ name: accessId, password: accessKey })];
  const redactor = (kind: TextKind): ((text: string) => string) =>
    makeRedactor({ keys, others: [accessId, ...sessions.secrets()] }, kind);
  const sender = makeRequestSender({
    budget,
    clock,
    throttle,
    circuit: makeServiceCircuit(budget),
    addresses,
    allowedHosts: parts.allowedHosts,
    observer,
    redactor,
    clocks: parts.clocks,
  });

  const onMoved = onceForEach((baseUrl) => observer.onMoved?.(baseUrl));
  const follow = async (session: ServiceSession, { to }: Move): Promise<void> => {
    // Another request may have followed it first.
    if (addresses.current() !== session) return;
    addresses.moveTo(sessions.at(to));
    onMoved(to);
    await sessions.closeOldest([addresses.home, addresses.current()]);
  };
  const take = makeTakePlace({ addresses, sender, follow });

  return {
    async call(operation, input, call) {
      let isRepeated = false;
      for (let moves = 0; moves <= movesMax; moves += 1) {
        const taken = await take(operation, input, call);
        const sent = taken.ok === true ? await taken.value.send() : taken;
        if (sent.ok === true || sent.ok === false) return sent;
        if (!operation.idempotent && taken.ok === true) return unlessUnsent(sent);
        if (sent.ok === 'signedOut' && isRepeated) return unlessUnsent(sent);
        isRepeated ||= sent.ok === 'signedOut';
      }
      return failedAnswer(tooManyMoves(addresses.current().baseUrl));
    },
    async reserve(operation, input, call) {
      for (let moves = 0; moves <= movesMax; moves += 1) {
        const taken = await take(operation, input, call);
        if (taken.ok === 'moved') continue;
        if (!taken.ok) return taken;
        const { send, giveUp } = taken.value;
        return { ok: true, value: { giveUp, send: async () => unlessUnsent(await send()) } };
      }
      return failedAnswer(tooManyMoves(addresses.current().baseUrl));
    },
    redactor,
    close: () => sessions.close(),
  };
}

function onceForEach(report: (address: string) => void): (address: string) => void {
  const reported = new Set<string>();
  return (address) => {
    if (!reported.has(address)) report(address);
    reported.add(address);
  };
}

/** The permission to send was for one send. A create that was redirected or signed out needs a new one (P4). */
function unlessUnsent<Result>(sent: Sent<Result>): ServedAnswer<Result> {
  if (sent.ok === true || sent.ok === false) return sent;
  const detail =
    sent.ok === 'moved'
      ? `The service moved to ${sent.to}, which is now used.`
      : 'The service refused the session cookie (401). The next request signs in again.';
  return failedAnswer({ kind: 'unavailable', sent: false, detail });
}

function tooManyMoves(last: string): ServiceFailure {
  const detail = `The service redirected ${movesMax + 1} times in a row, last from ${last}. Check baseUrl in the config.`;
  return { kind: 'misconfigured', detail };
}
