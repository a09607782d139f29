import { z } from 'zod';
import { auditEvents } from '../../base/vocabulary.ts';
import { defineOperation, integerText } from '../operation.ts';
import { CollectorExplanation } from './collector-explanation.ts';
import { BuildHold, Count, Instant, listOf, namedObject, rowsOf } from './status-parts.ts';
import { whyAndWho } from './verb-body.ts';

const SharedAttributes = rowsOf({ key: z.string(), value: z.string() });

const HeldSubject = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('build'), build: z.string() }),
    z.object({ kind: z.literal('collector'), collectorId: z.number(), name: z.string() }),
    z
      .object({ kind: z.literal('group'), label: z.string(), attributes: SharedAttributes })
      .describe('Collectors that share attributes, in later rollouts, too.'),
    z.object({
      kind: z.literal('stratum'),
      label: z.string(),
      rolloutId: z.string(),
      attributes: SharedAttributes.exactOptional().describe(
        'What the collectors of a group share. The group becomes a stratum.',
      ),
    }),
  ])
  .meta({ id: 'HeldSubject', description: 'What the request names.' });
export type HeldSubject = z.infer<typeof HeldSubject>;

const nearest = listOf(z.string()).describe('Known ones, the nearest first.');

const HoldNote = z
  .discriminatedUnion('kind', [
    z
      .object({ kind: z.literal('buildNotOffered'), seenAt: Instant, nearest })
      .describe('The last scan, at `seenAt`, did not find this build.'),
    z
      .object({ kind: z.literal('collectorUnknown') })
      .describe('The service has no installed collector with this id.'),
    z
      .object({ kind: z.literal('groupEmpty'), nearest })
      .describe('No collector of a running rollout belongs to the group. Later plans leave the group out.'),
    z
      .object({ kind: z.literal('noRollout') })
      .describe('No rollout is running. Later plans leave the group out.'),
    z
      .object({
        kind: z.literal('notJudged'),
        waves: rowsOf({
          name: z.string(),
          size: Count.describe('All members of the wave.'),
          waiting: Count.describe('Members that were held when the gate passed, and can start now.'),
        }),
      })
      .describe('The gates of these waves passed without the released collectors.'),
    z
      .object({ kind: z.literal('leftByRollback'), rollback: z.string(), build: z.string() })
      .describe('The rollback leaves the collector on this build, because it was held.'),
    z
      .object({ kind: z.literal('waitsInRollback'), rollback: z.string() })
      .describe(
        'The rollback takes back what was held before it, but not this, which is held while it runs.',
      ),
    z.object({ kind: z.literal('rolloutEnded') }).describe('The rollout that held the stratum has ended.'),
  ])
  .meta({ id: 'HoldNote' });
export type HoldNote = z.infer<typeof HoldNote>;

export const HoldAnswer = z
  .object({
    kind: z.enum(['done', 'unchanged']).describe('`unchanged`: an earlier request did the same.'),
    subject: HeldSubject,
    collectors: Count.exactOptional().describe(
      'Collectors of a stratum or a group in running rollouts. Absent: unknown, or another subject.',
    ),
    note: HoldNote.exactOptional().describe('A note for people.'),
  })
  .meta({ id: 'HoldAnswer' });
export type HoldAnswer = z.infer<typeof HoldAnswer>;

const CollectorHold = z.object({
  collectorId: z.number(),
  name: z.string().exactOptional().describe('Its name when it was held. Absent: unknown.'),
  by: z.string(),
  reason: z.string(),
  at: Instant,
});
export type CollectorHold = z.infer<typeof CollectorHold>;

const GroupHold = z.object({
  label: z.string().describe('`fields.rack=r7 and osName=Linux`'),
  attributes: SharedAttributes,
  by: z.string(),
  reason: z.string(),
  at: Instant,
});
export type GroupHold = z.infer<typeof GroupHold>;

export const HeldThings = namedObject('HeldThings', 'Everything that is held, and by whom.', {
  builds: listOf(BuildHold),
  collectors: listOf(CollectorHold),
  groups: listOf(GroupHold).describe(
    'Collectors by what they share: in running rollouts, and in the plans of later ones. A rollback takes them back.',
  ),
  strata: rowsOf({
    policy: z.string(),
    rolloutId: z.string(),
    isEnded: z.boolean().describe('The rollout that holds the stratum has ended.'),
    label: z.string(),
    reason: z.string(),
    by: z.string(),
    at: Instant,
  }),
});
export type HeldThings = z.infer<typeof HeldThings>;

export const AuditEntry = namedObject(
  'AuditEntry',
  'Who did what, when and why: verbs over all rollouts, holds of operators and of the daemon, releases, reloads, and losses of the record.',
  {
    at: Instant,
    event: z.enum(auditEvents),
    subject: z
      .string()
      .describe(
        "The build, the collector's id with its name if it is known, the rollout with its wave, or the stratum; for `record.lost`, what was lost; for `config.reloaded`, `config`.",
      ),
    by: z.string(),
    reason: z.string(),
  },
);
export type AuditEntry = z.infer<typeof AuditEntry>;

const auditDefault = 50;
const auditMax = 1_000;
const filterLengthMax = 500;

const filterText = (description: string) =>
  z.string().min(1).max(filterLengthMax).optional().describe(description);

// A name has at most 128 characters; a stratum's label has the values of several keys.
const subjectLengthMax = 1_000;

const HoldBody = z.object({
  subject: z
    .string()
    .trim()
    .min(1)
    .max(subjectLengthMax)
    .describe(
      "A build, a collector's id or exact name, a stratum's label: `Linux / amd64 / 19.441-2`; or attributes: `fields.rack=r7 and osName=Linux`.",
    ),
  ...whyAndWho,
});

const hold = <const Name extends string>(draft: {
  readonly name: Name;
  readonly summary: string;
  readonly route: `POST /${string}`;
  readonly source: string;
}) =>
  defineOperation({
    ...draft,
    body: HoldBody,
    answer: { status: 200, body: HoldAnswer },
    errors: ['notFound', 'unavailable'],
    idempotent: true,
  });

export const holdSubject = hold({
  name: 'holdSubject',
  summary: 'Hold a build, a collector or a stratum',
  route: 'POST /holds',
  source:
    'P4, DESIGN §5: nothing of it starts until it is released; running upgrades are watched to their end',
});
export const releaseSubject = hold({
  name: 'releaseSubject',
  summary: 'Release a build, a collector or a stratum',
  route: 'POST /releases',
  source: 'DESIGN §5: ends a hold',
});

export const listHolds = defineOperation({
  name: 'listHolds',
  summary: 'List what is held',
  route: 'GET /holds',
  answer: { status: 200, body: HeldThings },
  errors: ['unavailable'],
  source: 'DESIGN §5: builds, collectors and strata that are held',
});

export const readAudit = defineOperation({
  name: 'readAudit',
  summary: 'List the audit of all rollouts',
  route: 'GET /audit',
  query: z.object({
    limit: integerText({ min: 1, max: auditMax }).default(auditDefault),
    since: integerText({ min: 0 }).optional().describe('Only entries at or after this instant.'),
    type: filterText(
      'A verb (`pause`, `skip-soak`, `hold`), the name of an event, or how one of its parts begins: `rollout.aborted`, `stratum`.',
    ),
    policy: filterText(
      'Only entries of the rollouts of this policy. Holds of builds and collectors, and reloads, belong to none.',
    ),
    by: filterText('An operator.'),
    match: filterText('Words that the subject or the reason contains, in upper or lower case.'),
  }),
  answer: { status: 200, body: z.object({ entries: listOf(AuditEntry) }) },
  errors: ['unavailable'],
  source: 'DESIGN §5: who did which verb, hold or release, when and why, newest first',
});

export type AuditSearch = z.output<(typeof readAudit)['query']>;

export const explainCollector = defineOperation({
  name: 'explainCollector',
  summary: 'Explain why a collector is not upgraded now',
  route: 'GET /collectors/{collector}/explanation',
  params: z.object({
    collector: z.string().min(1).max(subjectLengthMax).describe('Its id, or its exact name.'),
  }),
  answer: { status: 200, body: CollectorExplanation },
  errors: ['notFound', 'unavailable'],
  source: 'DESIGN §5: why not now, and when; the service is asked about the collector',
});
