import type { RetryWindow } from '../base/retry-window.ts';
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
import { makeServiceHealth } from './service-health.ts';
import { clientSettings } from './service-settings.ts';

export interface FleetAccessParts {
  readonly service: ServiceConfig;
  readonly budget: ApiBudget;
  readonly clock: Clock;
  readonly keyMemory?: KeyMemory;
  readonly metrics?: Metrics;
  readonly sink?: EventSink;
  /** Hears each address that the service sends a request on to, once. */
  readonly onMoved?: (baseUrl: string) => void;
  /** How long reads that the service does not answer are sent again, for a person who waits. */
  readonly readWindow?: RetryWindow;
  /** Hears of what an inventory leaves out, in words, when that has changed. */
  readonly onIncomplete?: (reason: string) => void;
}

export type FleetAccess = ReturnType<typeof makeFleetAccess>;

/** The way to the configured service: the ports that the loops know. It reports its traffic to metrics and log. */
export function makeFleetAccess(parts: FleetAccessParts) {
  const { service, budget, clock, keyMemory, metrics, sink } = parts;
  const health = makeServiceHealth();
  const client = makeServiceClient({
    ...clientSettings(service),
    budget,
    clock,
    ...(keyMemory === undefined ? {} : { keyMemory }),
    observer: {
      onRequest: ({ operation, status, durationMs, budgetWaitMs, budgetClass }) => {
        const isAnswer = typeof status === 'number';
        health.answered(status);
        metrics?.apiAnswered({ operation, status: isAnswer ? status : null, durationMs });
        metrics?.budgetTaken({ class: budgetClass, waitedMs: budgetWaitMs });
      },
      onThrottled: ({ reason, pauseMs }) => sink?.note({ event: 'service.throttled', reason, pauseMs }),
      onMoved: (baseUrl) => {
        sink?.note({ event: 'service.moved', baseUrl });
        parts.onMoved?.(baseUrl);
      },
    },
  });
  let unreadableReported = 0;
  const { readWindow } = parts;
  const fleet = makeFleetService({
    ...(readWindow === undefined ? { client, sleep: sleepForReal } : withRetriedReads(client, readWindow)),
    clock,
    onUnreadable: (rows) => {
      if (rows === unreadableReported) return;
      unreadableReported = rows;
      if (rows === 0) return;
      const reason = `${rows} ${rows === 1 ? 'collector has' : 'collectors have'} no id or name that can be read: no plan takes them in.`;
      sink?.note({ event: 'inventory.incomplete', reason });
      parts.onIncomplete?.(reason);
    },
  });
  return {
    fleet,
    logSearch: makeLogSearch({ client, clock, sleep: sleepForReal }),
    /** What the daemons of this key, or else our last request, found; true before the first one. */
    readiness: health.readiness,
    /** Whether the last answer was a fault, or the service is down. */
    isDoubted: health.isDoubted,
    /** Takes the daemons' common word for log, metrics and readiness. */
    setServiceStatus: (status: ServiceStatus): void => {
      health.setDown(status.isUp ? undefined : status.reason);
      sink?.note(
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
