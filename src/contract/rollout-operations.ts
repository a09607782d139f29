import { z } from 'zod';
import { eventsDefault, eventsMax } from './event-limits.ts';
import { defineOperation, integerText } from './operation.ts';
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

export const rolloutId = z.object({ id: z.string().min(1).max(200) });

export const listRollouts = defineOperation({
  name: 'listRollouts',
  method: 'GET',
  path: '/rollouts',
  answer: { status: 200, body: z.object({ rollouts: z.array(RolloutStatusBody).readonly() }) },
  errors: ['unavailable'],
  idempotent: true,
  source: 'DESIGN §5, HTTP: newest first, ended ones included',
});

export const getRollout = defineOperation({
  name: 'getRollout',
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
  method: 'GET',
  path: '/rollouts/{id}/verbs',
  params: rolloutId,
  answer: { status: 200, body: z.object({ verbs: z.array(RolloutVerbName).readonly() }) },
  errors: ['notFound', 'unavailable'],
  idempotent: true,
  source: 'DESIGN §5, Status: what can I do; the verbs that are legal now',
});
