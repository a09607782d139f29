import { z } from 'zod';
import { defineOperation, integerText } from '../operation.ts';
import { eventsDefault, eventsMax } from './event-limits.ts';
import {
  RolloutEventBody,
  RolloutStatusBody,
  RolloutVerbName,
  UpgradeBody,
  UpgradeStateName,
} from './rollout-status.ts';

// Pages are bounded, so that no answer grows with the fleet.
const collectorPageSizeDefault = 100;
const collectorPageSizeMax = 1_000;

/** One answer describes each rollout anew, at a few commands each. */
export const rolloutPageSizeDefault = 50;
const rolloutPageSizeMax = 100;

const rolloutIdLengthMax = 200;

export const rolloutId = z.object({ id: z.string().min(1).max(rolloutIdLengthMax) });

export const listRollouts = defineOperation({
  name: 'listRollouts',
  summary: 'List rollouts, or a page of their history',
  method: 'GET',
  path: '/rollouts',
  query: z.object({
    before: z
      .string()
      .min(1)
      .max(rolloutIdLengthMax)
      .optional()
      .meta({ description: 'The id of a rollout: only older ones are listed, from the history.' }),
    limit: integerText({ min: 1, max: rolloutPageSizeMax })
      .optional()
      .meta({
        description: `The size of a page of the history, ${rolloutPageSizeDefault} where only before is given. Without both, what is current is listed.`,
      }),
  }),
  answer: {
    status: 200,
    body: z.object({
      rollouts: z.array(RolloutStatusBody).readonly(),
      next: z
        .string()
        .nullable()
        .optional()
        .meta({ description: 'What to ask for as before to see older ones; null when there are none.' }),
    }),
  },
  errors: ['notFound', 'unavailable'],
  idempotent: true,
  source:
    'DESIGN §5, HTTP: newest first; the running ones and the last ended one of each policy, or a page of all that are kept',
});

export const getRollout = defineOperation({
  name: 'getRollout',
  summary: 'Get the status of a rollout',
  method: 'GET',
  path: '/rollouts/{id}',
  params: rolloutId,
  answer: { status: 200, body: RolloutStatusBody },
  errors: ['notFound', 'unavailable'],
  idempotent: true,
  source: 'DESIGN §5, HTTP',
});

export const listRolloutCollectors = defineOperation({
  name: 'listRolloutCollectors',
  summary: 'List the collectors of a rollout',
  method: 'GET',
  path: '/rollouts/{id}/collectors',
  params: rolloutId,
  query: z.object({
    limit: integerText({ min: 1, max: collectorPageSizeMax }).default(collectorPageSizeDefault),
    offset: integerText({ min: 0 }).default(0),
    state: UpgradeStateName.optional(),
  }),
  answer: {
    status: 200,
    body: z.object({
      collectors: z.array(UpgradeBody).readonly(),
      /** Over all pages, with the same `state`. */
      total: z.number().int(),
    }),
  },
  errors: ['notFound', 'unavailable'],
  idempotent: true,
  source: 'DESIGN §5, HTTP: in plan order',
});

export const listRolloutEvents = defineOperation({
  name: 'listRolloutEvents',
  summary: 'List the events of a rollout',
  method: 'GET',
  path: '/rollouts/{id}/events',
  params: rolloutId,
  query: z.object({
    limit: integerText({ min: 1, max: eventsMax }).default(eventsDefault),
  }),
  answer: { status: 200, body: z.object({ events: z.array(RolloutEventBody).readonly() }) },
  errors: ['notFound', 'unavailable'],
  idempotent: true,
  source: 'DESIGN §5, Log: newest first',
});

export const listRolloutVerbs = defineOperation({
  name: 'listRolloutVerbs',
  summary: 'List the verbs that are legal now',
  method: 'GET',
  path: '/rollouts/{id}/verbs',
  params: rolloutId,
  answer: { status: 200, body: z.object({ verbs: z.array(RolloutVerbName).readonly() }) },
  errors: ['notFound', 'unavailable'],
  idempotent: true,
  source: 'DESIGN §5, Status: what can I do; the verbs that are legal now',
});
