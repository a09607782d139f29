import { z } from 'zod';
import { defineOperation, integerText } from '../../contract/operation.ts';
import type { NotedRequest, RecordSnapshot } from '../api/service-record.ts';
import { Duration } from '../scenario/happenings.ts';

/** Where these operations are. They are not part of the Collector Management API. */
export const controlPath = '/reference';

const source = 'src/reference-service/README.md';
const account = z.string().optional();
const ofAccount = z.object({ account });
const ofCollector = { params: z.object({ id: integerText() }), query: ofAccount };
const emptyBody = z.strictObject({}).optional();

const readHealth = defineOperation({
  name: 'readHealth',
  route: 'GET /reference/health',
  answer: {
    status: 200,
    body: z.object({ status: z.literal('ok'), now: z.number(), speed: z.number(), collectors: z.number() }),
  },
  source,
});

const readDocument = defineOperation({
  name: 'readDocument',
  route: 'GET /reference/openapi.json',
  answer: { status: 200, body: z.unknown() },
  source,
});

const showFleet = defineOperation({
  name: 'showFleet',
  route: 'GET /reference',
  query: ofAccount,
  answer: { status: 200, body: z.string() },
  source,
});

const readRecord = defineOperation({
  name: 'readRecord',
  route: 'GET /reference/record',
  answer: { status: 200, body: z.custom<RecordSnapshot>() },
  source,
});

const readRequests = defineOperation({
  name: 'readRequests',
  route: 'GET /reference/requests',
  query: z.object({ limit: integerText({ min: 1 }).default(100) }),
  answer: { status: 200, body: z.object({ requests: z.custom<readonly NotedRequest[]>() }) },
  source,
});

const reset = defineOperation({
  name: 'reset',
  route: 'POST /reference/reset',
  body: emptyBody,
  answer: { status: 200, body: z.object({ collectors: z.number() }) },
  source,
});

const playScenario = defineOperation({
  name: 'playScenario',
  route: 'POST /reference/scenario',
  body: z.unknown(),
  answer: { status: 200, body: z.object({ collectors: z.number() }) },
  source,
});

const advanceTime = defineOperation({
  name: 'advanceTime',
  route: 'POST /reference/time',
  body: z.strictObject({ advance: Duration }),
  answer: { status: 200, body: z.object({ now: z.number() }) },
  source,
});

const killCollector = defineOperation({
  name: 'killCollector',
  route: 'POST /reference/collectors/{id}/kill',
  ...ofCollector,
  body: emptyBody,
  answer: { status: 200, body: z.object({ id: z.number() }) },
  source,
});

const reviveCollector = defineOperation({
  name: 'reviveCollector',
  route: 'POST /reference/collectors/{id}/revive',
  ...ofCollector,
  body: emptyBody,
  answer: { status: 200, body: z.object({ id: z.number() }) },
  source,
});

const upgradeCollector = defineOperation({
  name: 'upgradeCollector',
  route: 'POST /reference/collectors/{id}/upgrade',
  ...ofCollector,
  body: z.strictObject({ toVersion: z.string().optional() }).optional(),
  answer: { status: 200, body: z.object({ id: z.number(), taskId: z.string() }) },
  source,
});

const offerBuild = defineOperation({
  name: 'offerBuild',
  route: 'POST /reference/builds',
  query: ofAccount,
  body: z.strictObject({ version: z.string().min(1), offered: z.boolean().default(true) }),
  answer: { status: 200, body: z.object({ offered: z.array(z.string()) }) },
  source,
});

/** What others do to the service: tests, and people who look at it. */
export const controlApi = [
  ...([readHealth, readDocument, showFleet, readRecord, readRequests] as const),
  ...([
    reset,
    playScenario,
    advanceTime,
    killCollector,
    reviveCollector,
    upgradeCollector,
    offerBuild,
  ] as const),
] as const;

/** They need no sign-in: probes and people read them. They change nothing. */
export const openOperations: ReadonlySet<string> = new Set([
  ...[readHealth, readDocument, showFleet].map(({ name }) => name),
]);
