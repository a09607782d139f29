import { z } from 'zod';
import { defineOperation, integerText } from '../operation.ts';
import { eventsDefault, eventsMax } from './event-limits.ts';
import { RolloutEventBody } from './rollout-event.ts';
import { RolloutStatus, UpgradeBody } from './rollout-status.ts';
import { listOf, RolloutVerbName, UpgradeStateName } from './status-parts.ts';

// Pages are limited, so that no response grows with the fleet.
const collectorPageSizeDefault = 100;
const collectorPageSizeMax = 1_000;

const filterLengthMax = 500;
const waveNameLengthMax = 200;

const filterText = (length: number, description: string) =>
  z.string().min(1).max(length).optional().describe(description);

/** `failed,timedOut` */
const StateList = z
  .string()
  .max(filterLengthMax)
  .transform((text) => text.split(','))
  .pipe(z.array(UpgradeStateName))
  .describe('States, separated by commas: `failed,timedOut,unconfirmed`.');

/** The status of each rollout takes several Redis commands. */
export const rolloutPageSizeDefault = 50;
const rolloutPageSizeMax = 100;

const rolloutIdLengthMax = 200;

export const rolloutId = z.object({ id: z.string().min(1).max(rolloutIdLengthMax) });

export const listRollouts = defineOperation({
  name: 'listRollouts',
  summary: 'List rollouts, or a page of their history',
  route: 'GET /rollouts',
  query: z.object({
    before: z
      .string()
      .min(1)
      .max(rolloutIdLengthMax)
      .optional()
      .describe('The id of a rollout: only older ones are listed, from the history.'),
    limit: integerText({ min: 1, max: rolloutPageSizeMax })
      .optional()
      .describe(
        `The size of a page of the history, ${rolloutPageSizeDefault} where only before is given. Without both, the current rollouts are listed.`,
      ),
  }),
  answer: {
    status: 200,
    body: z.object({
      rollouts: listOf(RolloutStatus),
      next: z.string().nullable().optional().describe('`before` of the next page; null: no more pages.'),
    }),
  },
  errors: ['notFound', 'unavailable'],
  source:
    'DESIGN §5, HTTP: newest first; the running ones and the last ended one of each policy, or a page of all that are kept',
});

export const getRollout = defineOperation({
  name: 'getRollout',
  summary: 'Get the status of a rollout',
  route: 'GET /rollouts/{id}',
  params: rolloutId,
  answer: { status: 200, body: RolloutStatus },
  errors: ['notFound', 'unavailable'],
  source: 'DESIGN §5, HTTP',
});

export const listRolloutCollectors = defineOperation({
  name: 'listRolloutCollectors',
  summary: 'List the collectors of a rollout',
  route: 'GET /rollouts/{id}/collectors',
  params: rolloutId,
  query: z.object({
    limit: integerText({ min: 1, max: collectorPageSizeMax }).default(collectorPageSizeDefault),
    after: z
      .string()
      .regex(/^\d{1,9}$/)
      .optional()
      .describe('`next` of the previous page. Default: the first page.'),
    state: StateList.optional(),
    wave: filterText(waveNameLengthMax, 'The name of a wave.'),
    stratum: filterText(filterLengthMax, 'The label of a stratum: `Linux / amd64 / 19.441-2`.'),
    cause: filterText(
      filterLengthMax,
      'Words of the reason; `…` stands for anything. Or a `reasonKind`, or a `failureClass`.',
    ),
    match: filterText(
      filterLengthMax,
      'Words that its name, id, builds, stratum or caps (`fields.cluster = db-7`) contain.',
    ),
    attributes: filterText(
      filterLengthMax,
      'Attributes of the collector when it was planned: `fields.rack=r7 and osName=Windows*`.',
    ),
    results: z.enum(['true']).optional().describe('Also show what each attempt came to.'),
  }),
  answer: {
    status: 200,
    body: z.object({
      collectors: listOf(UpgradeBody),
      total: z
        .number()
        .int()
        .nullable()
        .describe('The count over all pages; null when it is unknown without reading all pages.'),
      next: z
        .string()
        .nullable()
        .describe('`after` of the next page; null: no more pages. A short page may have more after it.'),
    }),
  },
  errors: ['notFound', 'unavailable'],
  source: 'DESIGN §5, HTTP: in plan order; failed and withdrawn ones the latest first',
});

export type EventSearch = z.output<(typeof listRolloutEvents)['query']>;
export type CollectorSearch = z.output<(typeof listRolloutCollectors)['query']>;
export type CollectorPage = z.output<(typeof listRolloutCollectors)['answer']['body']>;

export const listRolloutEvents = defineOperation({
  name: 'listRolloutEvents',
  summary: 'List the events of a rollout',
  route: 'GET /rollouts/{id}/events',
  params: rolloutId,
  query: z.object({
    limit: integerText({ min: 1, max: eventsMax }).default(eventsDefault),
    since: integerText({ min: 0 }).optional().describe('Only events at or after this instant.'),
    type: filterText(
      filterLengthMax,
      'The name of an event, or how one of its parts begins: `wave.passed`, `upgrade`, `abort`.',
    ),
    collector: filterText(filterLengthMax, "A collector's id, or a part of its name."),
    by: filterText(filterLengthMax, 'The cause: `daemon`, `schedule`, or an operator.'),
  }),
  answer: { status: 200, body: z.object({ events: listOf(RolloutEventBody) }) },
  errors: ['notFound', 'unavailable'],
  source: 'DESIGN §5, Log: newest first',
});

export const listRolloutVerbs = defineOperation({
  name: 'listRolloutVerbs',
  summary: 'List the verbs that are allowed now',
  route: 'GET /rollouts/{id}/verbs',
  params: rolloutId,
  answer: { status: 200, body: z.object({ verbs: listOf(RolloutVerbName) }) },
  errors: ['notFound', 'unavailable'],
  source: 'DESIGN §5, Status: the verbs that are allowed now',
});

export const reportRollout = defineOperation({
  name: 'reportRollout',
  summary: 'Write the report of a rollout',
  route: 'GET /rollouts/{id}/report',
  params: rolloutId,
  query: z.object({
    format: z.enum(['html', 'md']).default('html').describe('A self-contained HTML file, or Markdown.'),
  }),
  answer: { status: 200, body: z.object({ report: z.string().describe('The whole file.') }) },
  errors: ['notFound', 'unavailable'],
  source: 'DESIGN §5, Commands: what went where and when, for a change ticket',
});
