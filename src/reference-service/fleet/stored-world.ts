import { z } from 'zod';
import { CollectorFacts, CollectorLife, LifeEvent, type SimulatedCollector } from './simulated-collector.ts';

/** JSON writes Infinity as null: "never". */
const InstantOrNever = z
  .number()
  .nullable()
  .transform((instant) => instant ?? Infinity);
const count = z.number().int().min(0);

const StoredCollector = z.strictObject({
  facts: CollectorFacts,
  showsOsTime: z.boolean(),
  deadAfterMs: z.number().exactOptional(),
  life: CollectorLife,
  pending: z.array(LifeEvent),
  sweep: z.strictObject({ orderedAt: z.number(), at: z.number() }).exactOptional(),
  /** Only if a client has changed them: others are drawn again. */
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
    /** Already among the pending events of the collector. */
    life: z.unknown().transform((): readonly LifeEvent[] => []),
  }),
});

/** An account's fleet, sources, tasks and builds as plain data. */
export const StoredWorld = z.strictObject({
  startedAt: z.number(),
  eventsDoneUntil: z.number(),
  /** The counters for the next ids. */
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
  const { sources, ...collector } = stored;
  return sources === undefined ? collector : { ...collector, sources, sourcesWritten: true };
}
