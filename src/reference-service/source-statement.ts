import { z } from 'zod';
import { serviceLimits } from '../contract/service-limits.ts';
import { sourceNameOf } from '../contract/source.ts';
import { invalidField, missingField, refusal } from './refusals.ts';
import type { CollectorSource } from './simulated-collector.ts';
import { intakeFieldOf } from './source-intake.ts';
import { characterCount } from './text-length.ts';

const Name = z.string().refine((name) => name.trim() !== '');

/** The fields of every source type (collector-api.md §2.2). All others pass through untouched. */
const commonFields = {
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
};
const AnySource = z.looseObject(commonFields);
/** Its name is in its configuration. */
const CloudToCloudSource = z.looseObject({
  ...commonFields,
  config: z.looseObject({ name: Name.optional() }).optional(),
});
const SourceByType: Readonly<Record<string, z.ZodType>> = {
  LocalFile: z.looseObject({
    ...commonFields,
    pathExpression: z.string().nullish(),
    denylist: z.array(z.unknown()).nullish(),
  }),
  SystemStats: z.looseObject({
    ...commonFields,
    interval: z.number().int().min(1).nullish(),
    metrics: z.array(z.string()).nullish(),
  }),
};

/** Set by the service: what a client states of them is not kept. */
const serviceFields: readonly string[] = ['id', 'alive', 'state'];

/**
 * Reads what a client states of a source.
 * @param isCloudToCloud tells of a source type whether its sources have their names in `config`
 * @returns everything it stated, without what the service sets
 * @throws ServiceFailure for the first field that can't be: with its code of collector-api.md §7.4, else
 *   `service.<field>.invalid` or `.missing`
 */
export function readSourceStatement(
  stated: Readonly<Record<string, unknown>>,
  isCloudToCloud: (sourceType: string) => boolean,
): CollectorSource['stated'] {
  const { sourceType, description } = stated;
  if (sourceType === undefined || sourceType === null || sourceType === '') throw refusal('EmptySourceType');
  if (typeof sourceType !== 'string') throw refusal('InvalidSourceType');
  const isNamedInside = isCloudToCloud(sourceType);
  const { name = null, config } = stated;
  if (name === null && !isNamedInside) throw missingField('name');
  const read = (isNamedInside ? CloudToCloudSource : shapeOf(sourceType)).safeParse(stated);
  if (!read.success) throw invalidField(String(read.error.issues[0]?.path[0]));
  const called = sourceNameOf({ name, config });
  if (called === undefined) throw missingField('name');
  if (characterCount(called) > serviceLimits.collectorNameLengthMax) throw refusal('CollectorNameTooLong');
  if (typeof description === 'string' && characterCount(description) > serviceLimits.descriptionLengthMax) {
    throw refusal('CollectorDescriptionTooLong');
  }
  const unkept = [...serviceFields, intakeFieldOf(sourceType)];
  return Object.fromEntries(Object.entries(stated).filter(([field]) => !unkept.includes(field)));
}

function shapeOf(sourceType: string): z.ZodType {
  return Object.hasOwn(SourceByType, sourceType) ? (SourceByType[sourceType] ?? AnySource) : AnySource;
}
