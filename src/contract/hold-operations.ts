import { z } from 'zod';
import { CollectorExplanationBody } from './collector-explanation.ts';
import { AuditEntryBody, HeldThingsBody, HoldAnswerBody } from './held-things.ts';
import { defineOperation, integerText } from './operation.ts';
import { whyAndWho } from './verb-body.ts';

const auditDefault = 50;
const auditMax = 1_000;
// A name has at most 128 characters; a stratum's label has the values of several keys.
const subjectLengthMax = 1_000;

const HoldBody = z.object({
  subject: z.string().trim().min(1).max(subjectLengthMax).meta({
    description: "A build, a collector's id or exact name, or a stratum's label: `Linux / amd64 / 19.441-2`.",
  }),
  ...whyAndWho,
});

const hold = <const Name extends string>(draft: {
  readonly name: Name;
  readonly summary: string;
  readonly path: string;
  readonly source: string;
}) =>
  defineOperation({
    ...draft,
    method: 'POST',
    body: HoldBody,
    answer: { status: 200, body: HoldAnswerBody },
    errors: ['notFound', 'unavailable'],
    idempotent: true,
  });

export const holdSubject = hold({
  name: 'holdSubject',
  summary: 'Hold a build, a collector or a stratum',
  path: '/holds',
  source:
    'P4, DESIGN §5: nothing of it starts any more until it is released; what runs is watched to its end',
});
export const releaseSubject = hold({
  name: 'releaseSubject',
  summary: 'Release a build, a collector or a stratum',
  path: '/releases',
  source: 'DESIGN §5: takes a hold back',
});

export const listHolds = defineOperation({
  name: 'listHolds',
  summary: 'List what is held',
  method: 'GET',
  path: '/holds',
  answer: { status: 200, body: HeldThingsBody },
  errors: ['unavailable'],
  idempotent: true,
  source: 'DESIGN §5: builds, collectors and strata that are held',
});

export const readAudit = defineOperation({
  name: 'readAudit',
  summary: 'List what was held and released',
  method: 'GET',
  path: '/audit',
  query: z.object({
    limit: integerText({ min: 1, max: auditMax }).default(auditDefault),
  }),
  answer: { status: 200, body: z.object({ entries: z.array(AuditEntryBody).readonly() }) },
  errors: ['unavailable'],
  idempotent: true,
  source: 'DESIGN §5: what was held and released beside rollouts, newest first',
});

export const explainCollector = defineOperation({
  name: 'explainCollector',
  summary: 'Explain why a collector is not upgraded now',
  method: 'GET',
  path: '/collectors/{collector}/explanation',
  params: z.object({
    collector: z.string().min(1).max(subjectLengthMax).meta({ description: 'Its id, or its exact name.' }),
  }),
  answer: { status: 200, body: CollectorExplanationBody },
  errors: ['notFound', 'unavailable'],
  idempotent: true,
  source: 'DESIGN §5: why not now, and when; the service is asked about the collector',
});
