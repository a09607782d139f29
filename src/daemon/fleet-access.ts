import { sleepForReal } from '../base/sleep.ts';
import type { Clock } from '../base/time.ts';
import { makeFleetService } from '../collector-api/fleet-service.ts';
import { makeServiceClient } from '../collector-api/service-client.ts';
import type { ServiceConfig } from '../config/config.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ApiBudget } from '../orchestrator/api-budget.ts';
import type { EventSink, FleetService } from '../orchestrator/ports.ts';
import { clientSettings } from './client-settings.ts';

export interface FleetAccessParts {
  readonly service: ServiceConfig;
  readonly budget: ApiBudget;
  readonly clock: Clock;
  readonly metrics?: Metrics;
  readonly sink?: EventSink;
}

/** The way to the service: the port the loops know, and whether it answers. */
export interface FleetAccess {
  readonly fleet: FleetService;
  /** What the last request told; true before the first one. */
  readiness(): { readonly ok: boolean; readonly reason: string };
  close(): Promise<void>;
}

/** Builds the client of the configured service, and tells metrics and log of its traffic. */
export function makeFleetAccess(parts: FleetAccessParts): FleetAccess {
  const { service, budget, clock, metrics, sink } = parts;
  let last: { readonly ok: boolean; readonly reason: string } = { ok: true, reason: 'not asked yet' };
  const client = makeServiceClient({
    ...clientSettings(service),
    budget,
    clock,
    observer: {
      onRequest: ({ operation, status, durationMs, budgetWaitMs, budgetClass }) => {
        const isAnswer = typeof status === 'number';
        const isWell = isAnswer && status < 500 && status !== 401 && status !== 403;
        last = isWell ? { ok: true, reason: 'answers' } : { ok: false, reason: `last answer: ${status}` };
        metrics?.apiAnswered({ operation, status: isAnswer ? status : null, durationMs });
        metrics?.budgetTaken({ class: budgetClass, waitedMs: budgetWaitMs });
      },
      onThrottled: ({ reason, pauseMs }) => sink?.note({ event: 'service.throttled', reason, pauseMs }),
    },
  });
  const fleet = makeFleetService({ client, clock, sleep: sleepForReal });
  return {
    fleet,
    readiness: () => last,
    close: async () => {
      await fleet.close();
      await client.close();
    },
  };
}
