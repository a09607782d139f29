import { z } from 'zod';
import { serviceLimits } from '../contract/service-limits.ts';
import { invalidField, missingField, refusal } from './refusals.ts';
import type { CollectorSource } from './simulated-collector.ts';
import { characterCount } from './text-length.ts';

/** The fields of every source type (collector-api.md §2.2). All others pass through untouched. */
const commonFields = {
  name: z.string().refine((name) => name.trim() !== ''),
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
 * @returns everything it stated, without what the service sets
 * @throws ServiceFailure for the first field that can't be: with its code of collector-api.md §7.4, else
 *   `service.<field>.invalid` or `.missing`
 */
export function readSourceStatement(stated: Readonly<Record<string, unknown>>): CollectorSource['stated'] {
  const { sourceType, name, description } = stated;
  if (sourceType === undefined || sourceType === null || sourceType === '') throw refusal('EmptySourceType');
  if (typeof sourceType !== 'string') throw refusal('InvalidSourceType');
  if (name === undefined || name === null) throw missingField('name');
  const shape = Object.hasOwn(SourceByType, sourceType) ? (SourceByType[sourceType] ?? AnySource) : AnySource;
  const read = shape.safeParse(stated);
  if (!read.success) throw invalidField(String(read.error.issues[0]?.path[0]));
  if (typeof name === 'string' && characterCount(name) > serviceLimits.collectorNameLengthMax) {
    throw refusal('CollectorNameTooLong');
  }
  if (typeof description === 'string' && characterCount(description) > serviceLimits.descriptionLengthMax) {
    throw refusal('CollectorDescriptionTooLong');
  }
  return Object.fromEntries(Object.entries(stated).filter(([field]) => !serviceFields.includes(field)));
}
