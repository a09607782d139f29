import { z } from 'zod';
import { defineOperation, integerText, noBody } from '../operation.ts';
import { sourceErrorCodes } from './errors.ts';

/**
 * A source of a collector (collector-api.md §2.2). Only the common fields are named. Fields of the many source types pass
 * through.
 */
export const Source = z
  .looseObject({
    id: z.number().int().optional(),
    name: z.string().optional(),
    sourceType: z.string().optional(),
    category: z.string().nullish(),
    hostName: z.string().nullish(),
    alive: z.boolean().optional(),
  })
  .meta({ id: 'Source' });
export type Source = z.infer<typeof Source>;

/** The name of a source. A cloud-to-cloud source has it in its `config`, any other one at the top level. */
export function sourceNameOf(source: {
  readonly name?: unknown;
  readonly config?: unknown;
}): string | undefined {
  const { name, config } = source;
  const inner = typeof config === 'object' && config !== null && 'name' in config ? config.name : undefined;
  return [name, inner].find((text) => typeof text === 'string');
}

/** Marks a downloaded configuration document (collector-api.md §9). */
export const downloadVersionKey = 'api.version';

const collectorId = integerText();
const ofCollector = z.object({ collectorId });
const oneSource = z.object({ collectorId, sourceId: integerText() });
const download = z.object({
  download: z
    .union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')])
    .default(false),
});
const OneSource = z.looseObject({ [downloadVersionKey]: z.string().optional(), source: Source });
/** The fields that a client sends. The service checks each field, so that an invalid one gets its own error code. */
const StatedSource = z.looseObject({
  source: z.record(z.string(), z.unknown()).describe('Fields of a Source, as its type has them.'),
});

/** With `download`, the response is the document that registers a new collector: without `id` and `alive`. */
export const listSources = defineOperation({
  name: 'listSources',
  summary: 'List the sources of a collector',
  route: 'GET /collectors/{collectorId}/sources',
  params: ofCollector,
  query: download,
  answer: {
    status: 200,
    body: z.looseObject({ [downloadVersionKey]: z.string().optional(), sources: z.array(Source) }),
  },
  errors: ['InvalidCollector'],
  source: 'collector-api.md §4.2',
});

export const getSource = defineOperation({
  name: 'getSource',
  summary: 'Get a source',
  route: 'GET /collectors/{collectorId}/sources/{sourceId}',
  params: oneSource,
  query: download,
  answer: { status: 200, body: OneSource },
  errors: sourceErrorCodes,
  source: 'collector-api.md §4.2',
});

export const createSource = defineOperation({
  name: 'createSource',
  summary: 'Create a source',
  route: 'POST /collectors/{collectorId}/sources',
  params: ofCollector,
  body: StatedSource,
  answer: { status: 201, body: OneSource },
  errors: sourceErrorCodes,
  source: 'collector-api.md §4.2',
});

export const updateSource = defineOperation({
  name: 'updateSource',
  summary: 'Update a source',
  route: 'PUT /collectors/{collectorId}/sources/{sourceId}',
  params: oneSource,
  body: StatedSource,
  requiresETag: true,
  answer: { status: 200, body: OneSource },
  errors: sourceErrorCodes,
  source: 'collector-api.md §4.2, §4.4',
});

/** A cloud-to-cloud source stops first, asynchronously (collector-api.md §3). */
export const deleteSource = defineOperation({
  name: 'deleteSource',
  summary: 'Delete a source',
  route: 'DELETE /collectors/{collectorId}/sources/{sourceId}',
  params: oneSource,
  answer: { status: 200, body: noBody },
  errors: sourceErrorCodes,
  source: 'collector-api.md §4.2',
});
