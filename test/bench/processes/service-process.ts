import type { DurationMs, EpochMs } from '../../../src/base/time.ts';
import type { RecordSnapshot } from '../../../src/reference-service/api/service-record.ts';
import { parseScenario, type ScenarioInput } from '../../../src/reference-service/scenario/scenario.ts';
import type { Credentials } from '../../../src/reference-service/server/authentication.ts';
import type { ReferenceService } from '../../../src/reference-service/server/start-reference-service.ts';
import { startReferenceService } from '../../../src/reference-service/server/start-reference-service.ts';
import { openTroubledWay } from '../../support/network/troubled-way.ts';
import { answerParent, preciseNow, startChild } from './child-process.ts';
import type { ProcessUsage } from './process-usage.ts';

export interface ServiceBrief {
  readonly scenario: ScenarioInput;
  readonly speed: number;
  readonly credentials: Credentials;
  /** Each request takes up to so much longer to the service, in its time. Default: none. */
  readonly jitterMs?: DurationMs;
}

/** Where the service is, and what its clock showed at an instant of ours. */
interface Started {
  readonly baseUrl: string;
  readonly anchor: { readonly realAt: EpochMs; readonly serviceAt: EpochMs };
}

/** A reference service in a process of its own, so that its event loop takes nothing from a contestant's. */
export interface ServiceProcess {
  readonly baseUrl: string;
  /** The service's time at an instant of `preciseNow`. */
  toServiceTime(realAt: EpochMs): EpochMs;
  /** The reverse. */
  toRealTime(serviceAt: EpochMs): EpochMs;
  readRecord(): Promise<RecordSnapshot>;
  /** What it has used so far. */
  usage(): ProcessUsage;
  stop(): Promise<void>;
}

type Question = { readonly start: ServiceBrief } | 'record';

export async function startServiceProcess(brief: ServiceBrief): Promise<ServiceProcess> {
  const child = startChild(new URL(import.meta.url));
  const { baseUrl, anchor } = await child.ask<Started>({ start: brief } satisfies Question);
  return {
    baseUrl,
    toServiceTime: (realAt) => anchor.serviceAt + (realAt - anchor.realAt) * brief.speed,
    toRealTime: (serviceAt) => anchor.realAt + (serviceAt - anchor.serviceAt) / brief.speed,
    readRecord: () => child.ask<RecordSnapshot>('record' satisfies Question),
    usage: () => child.usage(),
    stop: () => child.stop(),
  };
}

if (process.send !== undefined && process.argv[1] === new URL(import.meta.url).pathname) {
  let service: ReferenceService | undefined;
  answerParent<Question>(async (question) => {
    if (question === 'record') return service?.record.snapshot();
    const { scenario, speed, credentials, jitterMs } = question.start;
    service = await startReferenceService({
      scenario: parseScenario(scenario),
      speed,
      credentials: [credentials],
    });
    const anchor = { realAt: preciseNow(), serviceAt: service.clock.now() };
    const baseUrl =
      jitterMs === undefined ? service.baseUrl : await openJitteryWay(service.baseUrl, jitterMs / speed);
    return { baseUrl, anchor } satisfies Started;
  });
}

async function openJitteryWay(serviceUrl: string, jitterMs: DurationMs): Promise<string> {
  const way = await openTroubledWay(() => serviceUrl);
  way.behave(() => ({ kind: 'pass', delayMs: Math.random() * jitterMs }));
  return way.url;
}
