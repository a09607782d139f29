import { z } from 'zod';
import { absentWhenEmpty, defineOperation, integerText, noBody, pageQuery } from '../operation.ts';
import { collectorErrorCodes } from './errors.ts';
import { serviceLimits } from './limits.ts';

/**
 * A collector as the service shows it (collector-api.md §2.1). Real responses lack fields and have unknown ones
 * (field-facts.md, The wire), so only the identifying fields are required, and unknown ones are kept. It is written back as
 * it came, so an invalid value is an error and not dropped. Code that only reads uses `SeenCollector`.
 */
export const Collector = z
  .looseObject({
    id: z.number().int(),
    name: z.string(),
    collectorType: z.string().nullish(),
    description: z.string().nullish(),
    category: z.string().nullish(),
    hostName: z.string().nullish(),
    timeZone: z.string().nullish(),
    /**
     * Strings, according to the specification. One invalid value must not make a page of a thousand collectors unreadable
     * (P13).
     */
    fields: z.record(z.string(), z.unknown()).nullish(),
    ephemeral: z.boolean().nullish(),
    sourceSyncMode: z.string().nullish(),
    targetCpu: z.number().nullish(),
    cutoffTimestamp: z.number().nullish(),
    cutoffRelativeTime: z.string().nullish(),
    alive: z.boolean().nullish(),
    lastSeenAlive: z.number().nullish(),
    collectorVersion: z.string().nullish(),
    osName: z.string().nullish(),
    osVersion: z.string().nullish(),
    osArch: z.string().nullish(),
    osTime: z.number().nullish(),
    links: z.array(z.looseObject({ rel: z.string(), href: z.string() })).nullish(),
  })
  .meta({ id: 'Collector' });
export type Collector = z.infer<typeof Collector>;

const page = pageQuery(serviceLimits.collectorPageSizeDefault);
const collectorId = z.object({ id: integerText() });
const Filter = z.enum(['installed', 'hosted', 'dead', 'alive']).optional();
const aliveBeforeDays = integerText({ min: 1 }).default(serviceLimits.aliveBeforeDaysDefault);
const OneCollector = z.looseObject({ collector: Collector });
/** The fields that a client sends. The service checks each field, so that an invalid one gets its own error code. */
const StatedCollector = z.looseObject({
  collector: z.record(z.string(), z.unknown()).describe('Fields of a Collector.'),
});

export const listCollectors = defineOperation({
  name: 'listCollectors',
  summary: 'List collectors',
  route: 'GET /collectors',
  query: z.object({ filter: absentWhenEmpty(Filter).optional(), ...page }),
  answer: { status: 200, body: z.looseObject({ collectors: z.array(Collector) }) },
  source: 'collector-api.md §4.1',
});

export const listOfflineCollectors = defineOperation({
  name: 'listOfflineCollectors',
  summary: 'List collectors that have been offline for some days',
  route: 'GET /collectors/offline',
  query: z.object({
    aliveBeforeDays,
    ...page,
  }),
  answer: { status: 200, body: z.looseObject({ collectors: z.array(Collector) }) },
  source: 'collector-api.md §4.1',
});

export const getCollector = defineOperation({
  name: 'getCollector',
  summary: 'Get a collector by id',
  route: 'GET /collectors/{id}',
  params: collectorId,
  answer: { status: 200, body: OneCollector },
  errors: ['InvalidCollector'],
  source: 'collector-api.md §4.1',
});

export const getCollectorByName = defineOperation({
  name: 'getCollectorByName',
  summary: 'Get a collector by name',
  route: 'GET /collectors/name/{name}',
  params: z.object({ name: z.string() }),
  answer: { status: 200, body: OneCollector },
  errors: ['InvalidCollector'],
  source: 'collector-api.md §4.1',
});

/** For hosted collectors only: installed ones register themselves (collector-api.md §1). */
export const createCollector = defineOperation({
  name: 'createCollector',
  summary: 'Create a Hosted Collector',
  route: 'POST /collectors',
  body: StatedCollector,
  answer: { status: 201, body: OneCollector },
  errors: collectorErrorCodes,
  source: 'collector-api.md §4.1',
});

export const updateCollector = defineOperation({
  name: 'updateCollector',
  summary: 'Update a collector',
  route: 'PUT /collectors/{id}',
  params: collectorId,
  body: StatedCollector,
  requiresETag: true,
  answer: { status: 200, body: OneCollector },
  errors: collectorErrorCodes,
  source: 'collector-api.md §4.1, §4.4',
});

export const deleteCollector = defineOperation({
  name: 'deleteCollector',
  summary: 'Delete a collector',
  route: 'DELETE /collectors/{id}',
  params: collectorId,
  answer: { status: 200, body: noBody },
  errors: collectorErrorCodes,
  source: 'collector-api.md §4.1',
});

/** Starts an asynchronous deletion. A GET shows its progress. */
export const deleteOfflineCollectors = defineOperation({
  name: 'deleteOfflineCollectors',
  summary: 'Delete collectors that have been offline for some days',
  route: 'DELETE /collectors/offline',
  query: z.object({ aliveBeforeDays }),
  answer: { status: 200, body: z.unknown() },
  source: 'collector-api.md §4.1',
});
