import { z } from 'zod';
import type { EpochMs } from '../../base/time.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';

/** What does not change by itself: the fields of a collector as the API shows them, without the transient ones. */
export const CollectorFacts = z.strictObject({
  id: z.number().int(),
  name: z.string(),
  collectorType: z.enum(['Installable', 'Hosted']),
  ephemeral: z.boolean(),
  description: z.string().nullable().exactOptional(),
  category: z.string().nullable().exactOptional(),
  hostName: z.string().nullable().exactOptional(),
  timeZone: z.string().nullable().exactOptional(),
  fields: z.record(z.string(), z.string()).exactOptional(),
  sourceSyncMode: z.enum(['UI', 'Json']).exactOptional(),
  targetCpu: z.number().nullable().exactOptional(),
  cutoffTimestamp: z.number().exactOptional(),
  cutoffRelativeTime: z.string().exactOptional(),
  osName: z.string().exactOptional(),
  osVersion: z.string().exactOptional(),
  osArch: z.string().exactOptional(),
  /** Fields that the specification does not know, kept and shown as they came (field-facts.md, The wire). */
  unknown: z.record(z.string(), z.unknown()).exactOptional(),
});
export type CollectorFacts = Readonly<z.infer<typeof CollectorFacts>>;

/** A source of a collector: whatever its client stated, under the id it got. */
export interface CollectorSource {
  readonly id: number;
  /** All fields but `id` and the transient ones. */
  readonly stated: Readonly<Record<string, unknown>>;
  /** Set once a cloud-to-cloud source is deleted: it is `Stopping` until then, and gone after. */
  readonly stoppedAt: EpochMs | undefined;
}

/** Something that happens to a collector at an instant. */
export const LifeEvent = z.discriminatedUnion('kind', [
  z.strictObject({ at: z.number(), kind: z.literal('down') }),
  z.strictObject({
    at: z.number(),
    kind: z.literal('up'),
    version: z.string().exactOptional(),
    /** It is alive on the build, and delivers no messages. */
    silent: z.literal(true).exactOptional(),
  }),
]);
export type LifeEvent = Readonly<z.infer<typeof LifeEvent>>;

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
export const CollectorLife = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('up'),
    upSince: z.number(),
    version: z.string(),
    /** Since when it delivers no messages. */
    silentSince: z.number().exactOptional(),
  }),
  z.strictObject({ kind: z.literal('down'), lastHeartbeatAt: z.number(), version: z.string() }),
]);
export type CollectorLife = Readonly<z.infer<typeof CollectorLife>>;

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
