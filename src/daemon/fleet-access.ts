import type { RetryWindow } from '../base/retry-window.ts';
import { singularOrPlural } from '../base/singular-or-plural.ts';
import type { Clock } from '../base/time.ts';
import { sleepForReal } from '../base/waiting.ts';
import { makeFleetService } from '../collector-api/fleet/fleet-service.ts';
import { makeLogSearch } from '../collector-api/fleet/log-search.ts';
import { withRetriedReads } from '../collector-api/wire/retry-reads.ts';
import { makeServiceClient } from '../collector-api/wire/service-client.ts';
import type { ServiceConfig } from '../config/config.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ApiBudget, KeyMemory, ServiceStatus } from '../orchestrator/ports/api-budget.ts';
import type { EventSink } from '../orchestrator/ports/event-sink.ts';
import { counted } from '../rollout/messages/sentences.ts';
import { makeServiceHealth } from './service-health.ts';
import { clientSettings } from './service-settings.ts';

export interface FleetAccessParts {
  readonly service: ServiceConfig;
  readonly budget: ApiBudget;
  readonly clock: Clock;
  /** null: a first 401 always means a wrong key. */
  readonly keyMemory: KeyMemory | null;
  /** null: nobody scrapes this process. */
  readonly metrics: Pick<Metrics, 'serviceJudged' | 'apiAnswered' | 'budgetTaken'> | null;
  readonly sink: Pick<EventSink, 'note'>;
  /** How long failed reads are retried, for a command that a person waits for; null: the caller repeats them. */
  readonly readWindow: RetryWindow | null;
}

export type FleetAccess = ReturnType<typeof makeFleetAccess>;

/** Connects the ports of the loops with the configured service. Traffic is reported to metrics and log. */
export function makeFleetAccess(parts: FleetAccessParts) {
  const { service, budget, clock, keyMemory, metrics, sink } = parts;
  const health = makeServiceHealth();
  const client = makeServiceClient({
    ...clientSettings(service),
    budget,
    clock,
    ...(keyMemory === null ? {} : { keyMemory }),
    observer: {
      onRequest: ({ operation, status, durationMs, budgetWaitMs, budgetClass }) => {
        const isAnswer = typeof status === 'number';
        health.answered(status);
        metrics?.serviceJudged(health.readiness());
        metrics?.apiAnswered({ operation, status: isAnswer ? status : null, durationMs });
        metrics?.budgetTaken({ class: budgetClass, waitedMs: budgetWaitMs });
      },
      onThrottled: ({ reason, pauseMs }) => sink.note({ event: 'service.throttled', reason, pauseMs }),
      onMoved: (baseUrl) => sink.note({ event: 'service.moved', baseUrl }),
      onProxy: (proxy) => sink.note({ event: 'service.proxied', proxy }),
    },
  });
  let unreadableReported = 0;
  const { readWindow } = parts;
  const fleet = makeFleetService({
    ...(readWindow === null ? { client, sleep: sleepForReal } : withRetriedReads(client, readWindow)),
    clock,
    onUnreadable: (rows) => {
      if (rows === unreadableReported) return;
      unreadableReported = rows;
      if (rows === 0) return;
      const reason = `${counted(rows, 'collector has', 'collectors have')} no readable id or name. Plans leave ${singularOrPlural(rows, 'it', 'them')} out.`;
      sink.note({ event: 'inventory.incomplete', reason });
    },
  });
  return {
    fleet,
    logSearch: makeLogSearch({ client, clock, sleep: sleepForReal }),
    /**
     * The health of the service: as all daemons with this key see it, else by the last response; ready before the first
     * one.
     */
    readiness: health.readiness,
    /** True when the last response was a fault, or the service is down. */
    isFailing: health.isFailing,
    /** Takes the status that all daemons share, for log, metrics and readiness. */
    setServiceStatus: (status: ServiceStatus): void => {
      health.setDown(status.isUp ? undefined : status.reason);
      metrics?.serviceJudged(health.readiness());
      sink.note(
        status.isUp
          ? { event: 'service.up', reason: 'the service answers again' }
          : { event: 'service.down', reason: status.reason },
      );
    },
    close: async (): Promise<void> => {
      await fleet.close();
      await client.close();
    },
  };
}
