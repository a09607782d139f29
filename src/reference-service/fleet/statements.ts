import { z } from 'zod';
import { hashHex } from '../../base/hash.ts';
import type { EpochMs } from '../../base/time.ts';
import { collectorAccess } from '../../contract/collector-management/field-access.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import { sourceNameOf } from '../../contract/collector-management/sources.ts';
import { invalidField, missingField, serviceRefusal } from './refusals.ts';
import type { CollectorFacts, CollectorSource } from './simulated-collector.ts';

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
  /** The key `_budget` assigns an ingest budget. */
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

/** All fields in the specification. Other stated fields are kept verbatim. */
const knownFields: ReadonlySet<string> = new Set(Object.values(collectorAccess).flat());

export const modifiableFields = Object.keys(ModifiableFields.shape) as readonly (keyof ModifiableStatement)[];

type ModifiableStatement = z.output<typeof ModifiableFields>;

/** The fields that a request states. */
export type Stated = Readonly<Record<string, unknown>>;

/** An update of a collector or a source. */
export interface StatedUpdate {
  readonly stated: Stated;
  readonly ifMatch: string | undefined;
  readonly isStrict: boolean;
  /** Whether optional fields of a collector that are not stated lose their values. */
  readonly clearsUnstated: boolean;
  readonly now: EpochMs;
}

/** The fields of a request for a collector: the stated modifiable ones, and the unknown ones. */
interface CollectorStatement {
  readonly modifiable: Partial<ModifiableStatement>;
  readonly unknown: Readonly<Record<string, unknown>>;
}

/**
 * Parses the stated fields of a collector.
 * @throws RefusedRequest for the first invalid field: with its documented code, else `service.<field>.invalid`
 */
export function readCollectorStatement(
  stated: Stated,
  collectorType: CollectorFacts['collectorType'],
): CollectorStatement {
  const read = SomeModifiableFields.safeParse(stated);
  if (!read.success) throw invalidField(String(read.error.issues[0]?.path[0]));
  // JSON has no `undefined`, so stated fields have values.
  const { sourceSyncMode, ...modifiable } = read.data as Partial<ModifiableStatement>;
  const { name, description } = modifiable;
  if (characterCount(name) > serviceLimits.collectorNameLengthMax)
    throw serviceRefusal('CollectorNameTooLong');
  if (characterCount(description) > serviceLimits.descriptionLengthMax) {
    throw serviceRefusal('CollectorDescriptionTooLong');
  }
  const unknown = Object.fromEntries(Object.entries(stated).filter(([field]) => !knownFields.has(field)));
  if (collectorType === 'Installable') {
    return {
      modifiable: sourceSyncMode === undefined ? modifiable : { ...modifiable, sourceSyncMode },
      unknown,
    };
  }
  // Only Installed Collectors have a mode. Stating the default is accepted.
  if (sourceSyncMode === 'Json') throw invalidField('sourceSyncMode');
  return { modifiable, unknown };
}

const Name = z.string().refine((name) => name.trim() !== '');

/** The fields of every source type (collector-api.md §2.2). All others pass through. */
const AnySource = z.looseObject({
  name: Name.optional(),
  description: z.string().nullish(),
  category: z.string().nullish(),
  hostName: z.string().nullish(),
  automaticDateParsing: z.boolean().nullish(),
  multilineProcessingEnabled: z.boolean().nullish(),
  useAutolineMatching: z.boolean().nullish(),
  forceTimeZone: z.boolean().nullish(),
  filters: z
    .array(z.looseObject({ filterType: z.string(), name: z.string(), regexp: z.string() }).partial())
    .nullish(),
  cutoffTimestamp: z.number().int().min(0).nullish(),
  encoding: z.string().nullish(),
  contentType: z.string().nullish(),
});
/** A cloud-to-cloud source has its name in its configuration. */
const CloudToCloudSource = AnySource.extend({
  config: z.looseObject({ name: Name.optional() }).optional(),
});
const LocalFile = AnySource.extend({
  pathExpression: z.string().nullish(),
  denylist: z.array(z.unknown()).nullish(),
});
const SystemStats = AnySource.extend({
  interval: z.number().int().min(1).nullish(),
  metrics: z.array(z.string()).nullish(),
});
const sourceByType = new Map<string, z.ZodType>(Object.entries({ LocalFile, SystemStats }));

/** Set by the service. Stated values are dropped. */
const serviceFields: readonly string[] = ['id', 'alive', 'state'];

/**
 * Parses the stated fields of a source.
 * @param isCloudToCloud true for a source type with names in `config`
 * @returns all stated fields, except those that the service sets
 * @throws RefusedRequest for the first invalid field: with its code of collector-api.md §7.4, else `service.<field>.invalid`
 *   or `.missing`
 */
export function readSourceStatement(
  stated: Stated,
  isCloudToCloud: (sourceType: string) => boolean,
): CollectorSource['stated'] {
  const { sourceType, description } = stated;
  if (sourceType === undefined || sourceType === null || sourceType === '')
    throw serviceRefusal('EmptySourceType');
  if (typeof sourceType !== 'string') throw serviceRefusal('InvalidSourceType');
  const isNamedInside = isCloudToCloud(sourceType);
  const { name = null, config } = stated;
  if (name === null && !isNamedInside) throw missingField('name');
  const read = (isNamedInside ? CloudToCloudSource : (sourceByType.get(sourceType) ?? AnySource)).safeParse(
    stated,
  );
  if (!read.success) throw invalidField(String(read.error.issues[0]?.path[0]));
  const called = sourceNameOf({ name, config });
  if (called === undefined) throw missingField('name');
  if (characterCount(called) > serviceLimits.collectorNameLengthMax)
    throw serviceRefusal('CollectorNameTooLong');
  if (typeof description === 'string' && characterCount(description) > serviceLimits.descriptionLengthMax) {
    throw serviceRefusal('CollectorDescriptionTooLong');
  }
  const unkept: readonly string[] = [...serviceFields, ...(intakeFields.get(sourceType) ?? [])];
  return Object.fromEntries(Object.entries(stated).filter(([field]) => !unkept.includes(field)));
}

/** The fields of the intake address, for source types that receive data. */
const intakeFields = new Map<unknown, readonly ('url' | 'token' | 'baseUrl')[]>([
  ['HTTP', ['url', 'token', 'baseUrl']],
  ['Cloudsyslog', ['token']],
]);

const intakeBaseUrl = 'https://collectors.example.com';

/** The intake address of a source: set by the service, and constant for its life. */
export function intakeOf({ id, stated }: CollectorSource): Readonly<Record<string, string>> {
  const fields = intakeFields.get(stated['sourceType']) ?? [];
  const token = hashHex(`intake:${id}`, 40);
  const intake = { url: `${intakeBaseUrl}/receiver/v1/http/${token}`, token, baseUrl: intakeBaseUrl };
  return Object.fromEntries(fields.map((field) => [field, intake[field]]));
}

/** Counts code points, so that a character outside the basic plane counts once. Absent texts have none. */
function characterCount(text: string | null | undefined): number {
  return Array.from(text ?? '').length;
}
