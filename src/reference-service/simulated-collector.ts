import type { EpochMs } from '../base/time.ts';
import { serviceLimits } from '../contract/service-limits.ts';

/** What does not change by itself: the fields of a collector as the API shows them, without the transient ones. */
export interface CollectorFacts {
  readonly id: number;
  readonly name: string;
  readonly collectorType: 'Installable' | 'Hosted';
  readonly ephemeral: boolean;
  readonly description?: string;
  readonly category?: string;
  readonly hostName?: string;
  readonly timeZone?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly sourceSyncMode?: 'UI' | 'Json';
  readonly targetCpu?: number;
  readonly cutoffTimestamp?: number;
  readonly osName?: string;
  readonly osVersion?: string;
  readonly osArch?: string;
  /** Unknown to the specification; some real answers carry it (field-facts.md, The wire). */
  readonly installedCollectorSubtype?: string;
}

/** Something that happens to a collector at an instant. */
export type LifeEvent =
  | { readonly at: EpochMs; readonly kind: 'down' }
  | { readonly at: EpochMs; readonly kind: 'up'; readonly version?: string };

/** A collector in the simulated fleet. Its state at an instant follows from its life events up to then. */
export interface SimulatedCollector {
  readonly facts: CollectorFacts;
  /** False: real answers of this collector lack `osTime`. */
  readonly showsOsTime: boolean;
  life: CollectorLife;
  /** Sorted by instant; those passed are folded into `life`. */
  pending: LifeEvent[];
}

/** The state after the last folded event. Heartbeats come at `upSince` and every 15 s while it is up. */
export type CollectorLife =
  | { readonly kind: 'up'; readonly upSince: EpochMs; readonly version: string }
  | { readonly kind: 'down'; readonly lastHeartbeatAt: EpochMs; readonly version: string };

/** Folds the events that have passed. Time only goes forward. */
export function settleCollector(collector: SimulatedCollector, now: EpochMs): CollectorLife {
  let due = collector.pending[0];
  while (due !== undefined && due.at <= now) {
    collector.life = afterEvent(collector.life, due);
    collector.pending.shift();
    due = collector.pending[0];
  }
  return collector.life;
}

function afterEvent(life: CollectorLife, event: LifeEvent): CollectorLife {
  if (event.kind === 'up') {
    return { kind: 'up', upSince: event.at, version: event.version ?? life.version };
  }
  return { kind: 'down', lastHeartbeatAt: lastHeartbeatAt(life, event.at), version: life.version };
}

/** The last 15 s tick while up (collector-api.md §3). */
export function lastHeartbeatAt(life: CollectorLife, now: EpochMs): EpochMs {
  if (life.kind === 'down') return life.lastHeartbeatAt;
  const { heartbeatMs } = serviceLimits;
  return life.upSince + Math.floor((now - life.upSince) / heartbeatMs) * heartbeatMs;
}

/** A Hosted Collector runs in the cloud and is always alive; an Installed one until 30 minutes after its last heartbeat. */
export function isAlive(collector: SimulatedCollector, now: EpochMs): boolean {
  if (collector.facts.collectorType === 'Hosted') return true;
  const life = settleCollector(collector, now);
  return now - lastHeartbeatAt(life, now) < serviceLimits.deadAfterMs;
}

/** An ephemeral collector is deleted after 12 hours of inactivity (collector-api.md §3). */
export function isDeleted(collector: SimulatedCollector, now: EpochMs): boolean {
  if (!collector.facts.ephemeral) return false;
  const life = settleCollector(collector, now);
  return now - lastHeartbeatAt(life, now) >= serviceLimits.ephemeralDeletedAfterMs;
}
