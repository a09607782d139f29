import { z } from 'zod';
import type { LifeEvent, SimulatedCollector } from './simulated-collector.ts';

/** JSON has no Infinity and writes null for it: "never". */
const InstantOrNever = z
  .number()
  .nullable()
  .transform((instant) => instant ?? Infinity);
const count = z.number().int().min(0);
const nullableText = z.string().nullable();

const Facts = z.strictObject({
  id: z.number().int(),
  name: z.string(),
  collectorType: z.enum(['Installable', 'Hosted']),
  ephemeral: z.boolean(),
  description: nullableText.optional(),
  category: nullableText.optional(),
  hostName: nullableText.optional(),
  timeZone: nullableText.optional(),
  fields: z.record(z.string(), z.string()).optional(),
  sourceSyncMode: z.enum(['UI', 'Json']).optional(),
  targetCpu: z.number().nullable().optional(),
  cutoffTimestamp: z.number().optional(),
  cutoffRelativeTime: z.string().optional(),
  osName: z.string().optional(),
  osVersion: z.string().optional(),
  osArch: z.string().optional(),
  unknown: z.record(z.string(), z.unknown()).optional(),
});

const StoredCollector = z.strictObject({
  facts: Facts,
  showsOsTime: z.boolean(),
  life: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('up'),
      upSince: z.number(),
      version: z.string(),
      silentSince: z.number().optional(),
    }),
    z.strictObject({ kind: z.literal('down'), lastHeartbeatAt: z.number(), version: z.string() }),
  ]),
  pending: z.array(
    z.discriminatedUnion('kind', [
      z.strictObject({ at: z.number(), kind: z.literal('down') }),
      z.strictObject({
        at: z.number(),
        kind: z.literal('up'),
        version: z.string().optional(),
        silent: z.literal(true).optional(),
      }),
    ]),
  ),
  sweep: z.strictObject({ orderedAt: z.number(), at: z.number() }).optional(),
  /** Only where a client has written them: all others are drawn again. */
  sources: z
    .array(
      z.strictObject({
        id: z.number().int(),
        stated: z.record(z.string(), z.unknown()),
        stoppedAt: z.number().optional(),
      }),
    )
    .optional(),
});
type StoredCollector = z.infer<typeof StoredCollector>;

const StoredTask = z.strictObject({
  id: z.string(),
  collectorId: z.number().int(),
  fromVersion: z.string(),
  toVersion: z.string(),
  requestedAt: z.number(),
  by: z.enum(['api', 'human']),
  script: z.object({
    pendingAt: InstantOrNever,
    progressingAt: InstantOrNever,
    endsAt: z.number(),
    endStatus: z.union([z.literal(2), z.literal(3)]),
    message: z.string(),
    /** Already among what is pending at the collector. */
    life: z.unknown().transform((): readonly LifeEvent[] => []),
  }),
});

/** An account's fleet, sources, tasks and builds as plain data. */
export const StoredWorld = z.strictObject({
  startedAt: z.number(),
  eventsDoneUntil: z.number(),
  /** What numbers the next collectors and sources. */
  counts: z.strictObject({ drawn: count, created: count, sources: count }),
  collectors: z.array(StoredCollector),
  tasks: z.array(StoredTask),
  attempts: z.array(z.tuple([z.string(), count])),
  builds: z.array(
    z.strictObject({
      version: z.string(),
      latest: z.boolean(),
      offeredAt: InstantOrNever,
      withdrawnAt: InstantOrNever,
    }),
  ),
});
export type StoredWorld = z.infer<typeof StoredWorld>;

export function storedCollector(collector: SimulatedCollector): StoredCollector {
  const { sources, sourcesWritten, ...kept } = collector;
  return sourcesWritten === true && sources !== undefined ? { ...kept, sources: [...sources] } : kept;
}

export function restoredCollector(stored: StoredCollector): SimulatedCollector {
  const { sources, ...kept } = stored;
  // Parsed JSON has no `undefined`, so an optional field is absent or has a value.
  const collector = kept as SimulatedCollector;
  if (sources === undefined) return collector;
  const whole = sources.map(({ id, stated, stoppedAt }) => ({ id, stated, stoppedAt }));
  return { ...collector, sources: whole, sourcesWritten: true };
}
