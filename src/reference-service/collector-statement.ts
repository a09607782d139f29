import { z } from 'zod';
import { serviceLimits } from '../contract/service-limits.ts';
import { invalidField, refusal } from './refusals.ts';
import type { CollectorFacts } from './simulated-collector.ts';
import { characterCount } from './text-length.ts';

/** The fields of a collector that a client may set (collector-api.md §2.1). */
const ModifiableFields = z.object({
  name: z.string().refine((name) => name.trim() !== ''),
  description: z.string().nullable(),
  category: z.string().nullable(),
  hostName: z
    .string()
    .refine((name) => characterCount(name) <= serviceLimits.hostNameLengthMax)
    .nullable(),
  timeZone: z.string().nullable(),
  /** `_budget` among the keys assigns an ingest budget; its value is the budget's own. */
  fields: z
    .record(z.string(), z.string())
    .nullable()
    .transform((fields) => fields ?? {}),
  ephemeral: z.boolean(),
  sourceSyncMode: z
    .enum(['UI', 'Json'])
    .nullable()
    .transform((mode) => mode ?? 'UI'),
  /** A percentage; -1 appears in responses. */
  targetCpu: z.number().int().min(-1).max(100).nullable(),
  cutoffTimestamp: z
    .number()
    .int()
    .min(0)
    .nullable()
    .transform((instant) => instant ?? 0),
});

const SomeModifiableFields = ModifiableFields.partial();

/** Everything the specification names; what a client states beside it is kept as it is. */
const knownFields: ReadonlySet<string> = new Set([
  ...Object.keys(ModifiableFields.shape),
  'id',
  'collectorType',
  'cutoffRelativeTime',
  'alive',
  'lastSeenAlive',
  'collectorVersion',
  'links',
  'osName',
  'osVersion',
  'osArch',
  'osTime',
]);

export const modifiableFields = Object.keys(ModifiableFields.shape) as readonly (keyof ModifiableStatement)[];

type ModifiableStatement = z.output<typeof ModifiableFields>;

/** What a request says of a collector: the modifiable fields it states, and those nobody knows. */
interface CollectorStatement {
  readonly modifiable: Partial<ModifiableStatement>;
  readonly unknown: Readonly<Record<string, unknown>>;
}

/**
 * Reads what a client states of a collector.
 * @throws ServiceFailure for the first field that can't be: with its documented code, else `service.<field>.invalid`
 */
export function readCollectorStatement(
  stated: Readonly<Record<string, unknown>>,
  collectorType: CollectorFacts['collectorType'],
): CollectorStatement {
  const read = SomeModifiableFields.safeParse(stated);
  if (!read.success) throw invalidField(String(read.error.issues[0]?.path[0]));
  // JSON has no `undefined`, so what is stated has a value.
  const { sourceSyncMode, ...modifiable } = read.data as Partial<ModifiableStatement>;
  const { name, description } = modifiable;
  if (characterCount(name) > serviceLimits.collectorNameLengthMax) throw refusal('CollectorNameTooLong');
  if (characterCount(description) > serviceLimits.descriptionLengthMax) {
    throw refusal('CollectorDescriptionTooLong');
  }
  const unknown = Object.fromEntries(Object.entries(stated).filter(([field]) => !knownFields.has(field)));
  if (collectorType === 'Installable') {
    return {
      modifiable: sourceSyncMode === undefined ? modifiable : { ...modifiable, sourceSyncMode },
      unknown,
    };
  }
  // A mode is for Installed Collectors only; the default is stated without harm.
  if (sourceSyncMode === 'Json') throw invalidField('sourceSyncMode');
  return { modifiable, unknown };
}
