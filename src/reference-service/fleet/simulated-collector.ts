import type { EpochMs } from '../../base/time.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';

/** What does not change by itself: the fields of a collector as the API shows them, without the transient ones. */
export interface CollectorFacts {
  readonly id: number;
  readonly name: string;
  readonly collectorType: 'Installable' | 'Hosted';
  readonly ephemeral: boolean;
  readonly description?: string | null;
  readonly category?: string | null;
  readonly hostName?: string | null;
  readonly timeZone?: string | null;
  readonly fields?: Readonly<Record<string, string>>;
  readonly sourceSyncMode?: 'UI' | 'Json';
  readonly targetCpu?: number | null;
  readonly cutoffTimestamp?: number;
  readonly cutoffRelativeTime?: string;
  readonly osName?: string;
  readonly osVersion?: string;
  readonly osArch?: string;
  /** Fields that the specification does not know, kept and shown as they came (field-facts.md, The wire). */
  readonly unknown?: Readonly<Record<string, unknown>>;
}

/** A source of a collector: whatever its client stated, under the id it got. */
export interface CollectorSource {
  readonly id: number;
  /** All fields but `id` and the transient ones. */
  readonly stated: Readonly<Record<string, unknown>>;
  /** Set once a cloud-to-cloud source is deleted: it is `Stopping` until then, and gone after. */
  readonly stoppedAt: EpochMs | undefined;
}

/** Something that happens to a collector at an instant. */
export type LifeEvent =
  | { readonly at: EpochMs; readonly kind: 'down' }
  /** `silent`: it is alive on the build, and delivers no messages. */
  | { readonly at: EpochMs; readonly kind: 'up'; readonly version?: string; readonly silent?: true };

/** A collector in the simulated fleet. Its state at an instant follows from its life events up to then. */
export interface SimulatedCollector {
  facts: CollectorFacts;
  /** False: real answers of this collector lack `osTime`. */
  readonly showsOsTime: boolean;
  life: CollectorLife;
  /** Sorted by instant; those passed are folded into `life`. */
  pending: LifeEvent[];
  /** Drawn when they are first asked for. */
  sources?: readonly CollectorSource[];
  /** True once a client has written them, so that they can't be drawn again. */
  sourcesWritten?: boolean;
  /** A deletion of offline collectors, and when it comes to this one; it is spared if it is back by then. */
  sweep?: { readonly orderedAt: EpochMs; readonly at: EpochMs };
}

/** The state after the last folded event. Heartbeats come at `upSince` and every 15 s while it is up. */
export type CollectorLife =
  | {
      readonly kind: 'up';
      readonly upSince: EpochMs;
      readonly version: string;
      /** Since when it delivers no messages. */
      readonly silentSince?: EpochMs;
    }
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
    const silent = event.silent === true ? { silentSince: event.at } : {};
    return { kind: 'up', upSince: event.at, version: event.version ?? life.version, ...silent };
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

/** Deleted with the offline ones, or, an ephemeral one, after 12 hours of inactivity (collector-api.md §3, §4.1). */
export function isDeleted(collector: SimulatedCollector, now: EpochMs): boolean {
  const { facts, sweep } = collector;
  if (!facts.ephemeral && sweep === undefined) return false;
  const life = settleCollector(collector, now);
  // It was down at the order, so being up, or a heartbeat since then, shows that it has come back.
  const isStillAway = life.kind === 'down' && life.lastHeartbeatAt < (sweep?.orderedAt ?? 0);
  if (sweep !== undefined && now >= sweep.at && isStillAway) return true;
  if (!facts.ephemeral) return false;
  return now - lastHeartbeatAt(life, now) >= serviceLimits.ephemeralDeletedAfterMs;
}
