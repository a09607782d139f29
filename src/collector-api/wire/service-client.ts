import type { Clock, DurationMs } from '../../base/time.ts';
import { basicToken } from '../../base/url-authority.ts';
import type { Operation } from '../../contract/operation.ts';
import type { CallInput } from '../../http/client.ts';
import type { ApiBudget, KeyMemory } from '../../orchestrator/ports/api-budget.ts';
import type { ServiceFailure } from '../../rollout/upgrade/failure-classes.ts';
import { makeRequestSender } from './request-sender.ts';
import { makeServiceAddresses } from './service-addresses.ts';
import type { ServiceObserver } from './service-call.ts';
import { failed, type ServedAnswer, type ServiceCall } from './service-call.ts';
import { makeServiceCircuit } from './service-circuit.ts';
import { makeServiceSessions, openServiceSession } from './service-sessions.ts';
import { makeHider, type TextKind } from './service-text.ts';
import { unlessAborted } from './take-grant.ts';
import { makeThrottle } from './throttle.ts';

export interface ServiceClientParts {
  /** Without a slash at its end and `/v1`, as the config has it. */
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
  const { requestTimeoutMs, connectionsMax = 16, ca } = parts;
  const sessions = makeServiceSessions((baseUrl) =>
    openServiceSession({ baseUrl, accessId, accessKey, requestTimeoutMs, connectionsMax, ca, clock }),
  );
  const addresses = makeServiceAddresses(sessions.at(parts.baseUrl));

  const credentials = [accessId, accessKey, basicToken({ name: accessId, password: accessKey })];
  const hider = (kind: TextKind): ((text: string) => string) => {
    return makeHider([...credentials, ...sessions.secrets()], kind);
  };
  const circuit = makeServiceCircuit(budget);
  const { allowedHosts } = parts;
  const sender = makeRequestSender({
    budget,
    clock,
    throttle,
    circuit,
    addresses,
    allowedHosts,
    observer,
    hider,
  });

  const movesTold = new Set<string>();
  const follow = async (to: string): Promise<void> => {
    addresses.moveTo(sessions.at(to));
    if (!movesTold.has(to)) observer.onMoved?.(to);
    movesTold.add(to);
    await sessions.letGo([addresses.home, addresses.current()]);
  };

  return {
    async call(operation, input, call) {
      for (let moves = 0; moves <= movesMax; moves += 1) {
        const session = addresses.current();
        const entry = await unlessAborted(session.gate.enter(call.signal), call.signal);
        if (entry === undefined) return failed({ kind: 'cancelled', sent: false });
        if (entry.kind === 'failed') return failed(entry.failure);
        let signInFailure: ServiceFailure | undefined;
        try {
          // Another request learned of a move while this one waited at the gate.
          if (session !== addresses.current()) continue;
          const sent = await sender.send(session, operation, call, (leaveBy) =>
            session.http.call(operation, input, {
              signal: call.signal,
              leaveBy,
              headers: call.ifMatch === undefined ? {} : { 'if-match': call.ifMatch },
              trailingSlash: call.trailingSlash,
            }),
          );
          if (sent.ok === false) signInFailure = sent.failure;
          if (sent.ok !== 'moved') return sent;
          if (addresses.current() === session) await follow(sent.to);
          // The permission to send was given for one send: a create comes back for a new one (P4).
          if (!operation.idempotent) return failed(movedCreate(sent.to));
        } finally {
          if (entry.kind === 'signIn') entry.done(signInFailure);
        }
      }
      const last = addresses.current().baseUrl;
      const detail = `The service redirected ${movesMax + 1} times in a row, last from ${last}. Check service.baseUrl.`;
      return failed({ kind: 'misconfigured', detail });
    },
    hider,
    close: () => sessions.close(),
  };
}

function movedCreate(to: string): ServiceFailure {
  return {
    kind: 'unavailable',
    sent: false,
    detail: `The service moved to ${to}, which is used from now on.`,
  };
}
