import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, DurationMs } from '../base/time.ts';
import { versionPath } from '../contract/collector-management-api.ts';
import { createUpgradeTask } from '../contract/upgrade-operations.ts';
import type { HttpAnswer, HttpRequest, OperationHandlers, RequestFailure } from '../http/http-exchange.ts';
import { mountOperations } from '../http/mounted-operation.ts';
import { startHttpServer } from '../http/server.ts';
import { Authentication, type Credentials } from './authentication.ts';
import { makeCollectorHandlers } from './collector-handlers.ts';
import { ErrorAnswers } from './error-answers.ts';
import { HttpFaults } from './http-faults.ts';
import { readRecord } from './record-contract.ts';
import { RequestGate } from './request-gate.ts';
import { makeScaledClock } from './scaled-clock.ts';
import { parseScenario, type Scenario } from './scenario.ts';
import { servedOperations } from './served-operations.ts';
import { ServiceRecord } from './service-record.ts';
import { makeUpgradeHandlers } from './upgrade-handlers.ts';
import { World } from './world.ts';

export interface ReferenceServiceParts {
  readonly credentials: readonly Credentials[];
  /** 127.0.0.1 where left out. */
  readonly host?: string;
  /** A free one where left out. */
  readonly port?: number;
  readonly scenario?: Scenario;
  /** How much faster than real time the service lives; its rate limit grows alike. 1 where left out. */
  readonly speed?: number;
  /** Real time: the machine's where left out. */
  readonly realClock?: Clock;
  /** The service's own time; `realClock` scaled by `speed` where left out. */
  readonly clock?: Clock;
  /** Waits for real milliseconds; a timer where left out. */
  readonly waitReal?: (durationMs: DurationMs, signal: AbortSignal) => Promise<void>;
}

export interface ReferenceService {
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  readonly port: number;
  /** What a client is configured with: `{url}/api`. `{url}` works too. */
  readonly baseUrl: string;
  readonly record: ServiceRecord;
  /** The fleet, to be looked into and disturbed. */
  readonly world: World;
  readonly clock: Clock;
  /** As after a restart of the service: every client signs in again. */
  forgetSessions(): void;
  close(): Promise<void>;
}

/** Base paths seen in the field (field-facts.md, The wire). */
const prefixes = [versionPath, `/api${versionPath}`];

/**
 * Plays the Collector Management Service over HTTP.
 * @throws when the address can't be listened on
 */
export async function startReferenceService(parts: ReferenceServiceParts): Promise<ReferenceService> {
  const scenario = parts.scenario ?? parseScenario({});
  const speed = parts.speed ?? 1;
  const realClock = parts.realClock ?? parts.clock ?? steadyClock;
  const clock = parts.clock ?? makeScaledClock({ realClock, speed });
  const closing = new AbortController();
  const world = new World({ scenario, clock });
  const record = new ServiceRecord(clock);
  const authentication = new Authentication({
    credentials: parts.credentials,
    limits: scenario.limits,
    clock,
  });
  const errors = new ErrorAnswers(scenario.errorCodes);
  const waitReal = parts.waitReal ?? waitWithTimer;
  const own = { url: '' };
  const gate = new RequestGate({
    scenario,
    clock,
    realClock,
    speed,
    authentication,
    errors,
    record,
    faults: new HttpFaults(scenario, world.startedAt),
    ownUrl: () => own.url,
    wait: (durationMs) => waitReal(durationMs / speed, closing.signal),
  });
  const handlers: OperationHandlers<typeof servedOperations> = {
    ...makeCollectorHandlers(world),
    ...makeUpgradeHandlers({ world, record }),
  };
  const server = await startHttpServer({
    host: parts.host ?? '127.0.0.1',
    port: parts.port ?? 0,
    operations: [
      ...prefixes.flatMap((prefix) => mountOperations(servedOperations, { prefix, handlers })),
      ...mountOperations([readRecord], {
        prefix: '',
        handlers: { readRecord: async () => ({ body: record.snapshot() }) },
      }),
    ],
    around: gate.around,
    answerFailure: makeFailureAnswer(errors, record),
  });
  own.url = server.url;
  return {
    url: server.url,
    port: server.port,
    baseUrl: `${server.url}/api`,
    record,
    world,
    clock,
    forgetSessions: () => authentication.forgetSessions(),
    close: async () => {
      closing.abort();
      await server.close();
    },
  };
}

function makeFailureAnswer(errors: ErrorAnswers, record: ServiceRecord) {
  return (failure: RequestFailure, request: HttpRequest): HttpAnswer => {
    const answer = errors.ofRequest(failure, request);
    if (request.operation?.name === createUpgradeTask.name) {
      record.refusedCreate((answer.body as { code: string }).code);
    }
    return answer;
  };
}

/** Finer than milliseconds and never set back, as a rate over one second needs it. */
const steadyClock: Clock = { now: () => performance.timeOrigin + performance.now() };

async function waitWithTimer(durationMs: DurationMs, signal: AbortSignal): Promise<void> {
  try {
    await sleep(durationMs, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
