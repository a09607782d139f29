import { z } from 'zod';
import { defineOperation, integerText } from './operation.ts';
import { RolloutEventBody, RolloutStatusBody, UpgradeBody, UpgradeStateName } from './rollout-status.ts';

/** Paths of our own API are relative to this. */
export const adminApiPath = '/api/v1';

/** Pages are bounded, so that no answer grows with the fleet. */
const adminApiLimits = {
  collectorPageSizeDefault: 100,
  collectorPageSizeMax: 1_000,
  eventsDefault: 50,
  eventsMax: 1_000,
  reasonLengthMax: 500,
} as const;

/** Every error of our own API. */
export const AdminErrorBody = z
  .object({
    code: z.string().meta({ description: 'For programs: refused, notFound, unavailable, unauthorized, …' }),
    message: z.string().meta({ description: 'For people.' }),
  })
  .meta({ id: 'Error' });
export type AdminErrorBody = z.infer<typeof AdminErrorBody>;

const rolloutId = z.object({ id: z.string().min(1).max(200) });

/** Names that events use for causes other than a person. */
const reservedNames: readonly string[] = ['daemon', 'schedule'];

/**
 * Why, and who. All of it may be left out, body included: who reaches for the brake at night with curl must not be
 * refused for a missing word.
 */
export const VerbBody = z
  .object({
    reason: z
      .string()
      .trim()
      .max(adminApiLimits.reasonLengthMax)
      .default('')
      .meta({ description: 'Why, for the events and for whoever looks next.' }),
    by: z
      .string()
      .trim()
      .min(1)
      .max(64)
      .refine((name) => !reservedNames.includes(name), { message: 'names the daemon itself' })
      .default('operator')
      .meta({ description: 'Who asks for it.' }),
  })
  .prefault({});
export type VerbBody = z.infer<typeof VerbBody>;

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
    limit: integerText({ min: 1, max: adminApiLimits.collectorPageSizeMax }).default(
      adminApiLimits.collectorPageSizeDefault,
    ),
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
    limit: integerText({ min: 1, max: adminApiLimits.eventsMax }).default(adminApiLimits.eventsDefault),
  }),
  answer: { status: 200, body: z.object({ events: z.array(RolloutEventBody).readonly() }) },
  errors: ['notFound', 'unavailable'],
  idempotent: true,
  source: 'DESIGN §5, Log: newest first',
});

/** When a verb answers, it holds: after `pause` and `abort` no create leaves from any daemon (P4). */
const verb = <const Name extends string>(name: Name, source: string) =>
  defineOperation({
    name: `${name}Rollout` as const,
    method: 'POST',
    path: `/rollouts/{id}/${name}`,
    params: rolloutId,
    body: VerbBody,
    answer: { status: 200, body: RolloutStatusBody },
    errors: ['notFound', 'refused', 'unavailable'],
    // Repeating a verb changes nothing (DESIGN §5, HTTP).
    idempotent: true,
    source,
  });

export const pauseRollout = verb('pause', 'P4: starts nothing more; what runs is watched to its end');
export const resumeRollout = verb('resume', 'DESIGN §5: goes on after a pause or a hold');
export const abortRollout = verb('abort', 'P4: ends the rollout; what runs is watched to its end');

/** Every operation of our own API; fixed paths stand before `{id}`. */
export const adminApi = [
  listRollouts,
  getRollout,
  listRolloutCollectors,
  listRolloutEvents,
  pauseRollout,
  resumeRollout,
  abortRollout,
] as const;
