import { z } from 'zod';

// What collector-api.md §2 says of each field, checked closer than a client may: a client must be tolerant, a service
// exact. Fields which real answers leave out (field-facts.md, The wire) may be absent here too. Unknown ones may come.

const long = z.number().int();
const optionalText = z.string().nullish();

const Link = z.looseObject({ rel: z.string(), href: z.string() });

export const CollectorShape = z.looseObject({
  id: long,
  name: z.string().min(1).max(128),
  collectorType: z.enum(['Installable', 'Hosted']),
  description: z.string().max(1024).nullish(),
  category: optionalText,
  hostName: z.string().max(128).nullish(),
  timeZone: optionalText,
  fields: z.record(z.string(), z.string()).nullish(),
  ephemeral: z.boolean(),
  sourceSyncMode: z.enum(['UI', 'Json']).nullish(),
  targetCpu: long.min(-1).max(100).nullish(),
  cutoffTimestamp: long.nullish(),
  cutoffRelativeTime: optionalText,
  alive: z.boolean(),
  lastSeenAlive: long.nullish(),
  collectorVersion: z.string(),
  links: z.array(Link),
  osName: z.string().optional(),
  osVersion: z.string().optional(),
  osArch: z.string().optional(),
  osTime: long.min(0).optional(),
});
export type CollectorShape = z.infer<typeof CollectorShape>;

export const OneCollector = z.strictObject({ collector: CollectorShape });
export const CollectorList = z.strictObject({ collectors: z.array(CollectorShape) });

/** A cloud-to-cloud source has its name in its configuration, any other one beside its type. */
const namedFields = {
  name: z.string().min(1).optional(),
  config: z.looseObject({ name: z.string().min(1).optional() }).optional(),
};
function hasName(source: z.output<z.ZodObject<typeof namedFields>>): boolean {
  return source.name !== undefined || source.config?.name !== undefined;
}

const sourceFields = {
  category: optionalText,
  hostName: optionalText,
  automaticDateParsing: z.boolean().nullish(),
  multilineProcessingEnabled: z.boolean().nullish(),
  useAutolineMatching: z.boolean().nullish(),
  forceTimeZone: z.boolean().nullish(),
  filters: z.array(z.looseObject({ filterType: z.string(), name: z.string(), regexp: z.string() })).nullish(),
  cutoffTimestamp: long.nullish(),
  encoding: z.string().nullish(),
  contentType: z.string().nullish(),
};
/** Fields whose shape is shown for one source type only. */
const fieldsOfType: Readonly<Record<string, z.ZodType>> = {
  LocalFile: z.looseObject({
    pathExpression: z.string().nullish(),
    denylist: z.array(z.unknown()).nullish(),
  }),
  SystemStats: z.looseObject({ interval: long.nullish(), metrics: z.array(z.string()).nullish() }),
};

function hasFieldsOfItsType(source: Readonly<Record<string, unknown>>): boolean {
  const type = String(source['sourceType']);
  return !Object.hasOwn(fieldsOfType, type) || fieldsOfType[type]?.safeParse(source).success === true;
}

export const SourceShape = z
  .looseObject({
    id: long,
    ...namedFields,
    sourceType: z.string().min(1),
    ...sourceFields,
    alive: z.boolean().optional(),
  })
  .refine(hasName, 'it has no name')
  .refine(hasFieldsOfItsType, 'a field of the source type has another shape');
export type SourceShape = z.infer<typeof SourceShape>;

/** A source in a downloaded document: what the service assigns is left out. */
const DownloadedSource = z
  .looseObject({
    ...namedFields,
    sourceType: z.string().min(1),
    ...sourceFields,
    id: z.never().optional(),
    alive: z.never().optional(),
  })
  .refine(hasName, 'it has no name');

export const OneSource = z.strictObject({ source: SourceShape });
export const SourceList = z.strictObject({ sources: z.array(SourceShape) });
export const OneDownload = z.strictObject({ 'api.version': z.literal('v1'), source: DownloadedSource });
export const DownloadList = z.strictObject({
  'api.version': z.literal('v1'),
  sources: z.array(DownloadedSource),
});

/** `<major>.<minor>-<build>` (§9.3). */
const BuildVersionShape = z.string().regex(/^\d+\.\d+-\d+$/);

export const OneUpgrade = z.strictObject({
  upgrade: z.looseObject({
    id: long,
    collectorId: long,
    toVersion: BuildVersionShape,
    requestTime: long,
    status: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3), z.literal(6)]),
    message: z.string(),
  }),
});

export const CreatedUpgradeShape = z.strictObject({ id: z.string().min(1), link: Link });

export const TargetList = z.strictObject({
  targets: z.array(z.strictObject({ version: BuildVersionShape, latest: z.boolean() })),
});

/** §7.1 */
export const ErrorShape = z.looseObject({
  status: z.number().int().min(300).max(599),
  id: z.string().min(1),
  code: z.string().min(1),
  message: z.string().min(1),
});
