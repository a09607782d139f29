import { z } from 'zod';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';

/** The lasting fields of a collector as the API shows them, without the transient ones. */
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
  /** Unknown fields, kept verbatim (field-facts.md, The wire). */
  unknown: z.record(z.string(), z.unknown()).exactOptional(),
});
export type CollectorFacts = Readonly<z.infer<typeof CollectorFacts>>;

/** A source of a collector: what its client stated, with its id. */
export interface CollectorSource {
  readonly id: number;
  /** All fields but `id` and the transient ones. */
  readonly stated: Readonly<Record<string, unknown>>;
  /** Set when a cloud-to-cloud source is deleted. It is `Stopping` until then, and gone afterwards. */
  readonly stoppedAt?: EpochMs | undefined;
}

/** An event of a collector at an instant. */
export const LifeEvent = z.discriminatedUnion('kind', [
  z.strictObject({
    at: z.number(),
    kind: z.literal('down'),
    /** The service shows this build from then on. */
    version: z.string().exactOptional(),
  }),
  z.strictObject({
    at: z.number(),
    kind: z.literal('up'),
    version: z.string().exactOptional(),
    /** It is alive on the build, but delivers no messages. */
    silent: z.literal(true).exactOptional(),
  }),
]);
export type LifeEvent = Readonly<z.infer<typeof LifeEvent>>;

/** A simulated collector. Its state at an instant results from its life events until then. */
export interface SimulatedCollector {
  facts: CollectorFacts;
  /** False: responses lack `osTime`, as some real ones do. */
  readonly showsOsTime: boolean;
  /** How long after its last heartbeat it is shown as alive. Default: 30 minutes. */
  readonly deadAfterMs?: DurationMs;
  life: CollectorLife;
  /** Future events by instant. Past ones are merged into `life`. */
  pending: LifeEvent[];
  /** Drawn when they are first read. */
  sources?: readonly CollectorSource[];
  /** True after a client has changed them, so that they can't be drawn again. */
  sourcesWritten?: boolean;
  /** The deletion of offline collectors, and when it reaches this one. It is kept if it is back by then. */
  sweep?: { readonly orderedAt: EpochMs; readonly at: EpochMs };
}

/** The state after the last past event. Heartbeats come at `upSince` and every 15 s while it is up. */
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

/** Applies the events until now. Time only moves forward. */
export function advanceCollector(collector: SimulatedCollector, now: EpochMs): CollectorLife {
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
  const { version = life.version } = event;
  return { kind: 'down', lastHeartbeatAt: lastHeartbeatAt(life, event.at), version };
}

/** The last heartbeat, every 15 s while up (collector-api.md §3). */
export function lastHeartbeatAt(life: CollectorLife, now: EpochMs): EpochMs {
  if (life.kind === 'down') return life.lastHeartbeatAt;
  const { heartbeatMs } = serviceLimits;
  return life.upSince + Math.floor((now - life.upSince) / heartbeatMs) * heartbeatMs;
}

/** A Hosted Collector is always alive. An Installed one is alive until `deadAfterMs` after its last heartbeat. */
export function isAlive(collector: SimulatedCollector, now: EpochMs): boolean {
  if (collector.facts.collectorType === 'Hosted') return true;
  const life = advanceCollector(collector, now);
  return now - lastHeartbeatAt(life, now) < (collector.deadAfterMs ?? serviceLimits.deadAfterMs);
}

/**
 * True for a collector that was deleted as offline, or for an ephemeral one after 12 hours of inactivity (collector-api.md
 * §3, §4.1).
 */
export function isDeleted(collector: SimulatedCollector, now: EpochMs): boolean {
  const { facts, sweep } = collector;
  if (!facts.ephemeral && sweep === undefined) return false;
  const life = advanceCollector(collector, now);
  // It was down when the deletion was requested, so being up, or a later heartbeat, shows that it has come back.
  const isStillAway = life.kind === 'down' && life.lastHeartbeatAt < (sweep?.orderedAt ?? 0);
  if (sweep !== undefined && now >= sweep.at && isStillAway) return true;
  if (!facts.ephemeral) return false;
  return now - lastHeartbeatAt(life, now) >= serviceLimits.ephemeralDeletedAfterMs;
}
