import { z } from 'zod';
import { BuildHoldBody, Instant } from './rollout-status.ts';

/** What our own API tells about holds; the shapes are those of the core, as in `rollout-status.ts`. */
const HeldSubjectBody = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('build'), build: z.string() }),
    z.object({ kind: z.literal('collector'), collectorId: z.number(), name: z.string() }),
    z.object({ kind: z.literal('stratum'), label: z.string(), rolloutId: z.string() }),
  ])
  .meta({ id: 'HeldSubject', description: 'What the word of an operator was found to name.' });

const nearest = z.array(z.string()).readonly().meta({ description: 'Known ones, the nearest first.' });

const HoldNoteBody = z
  .discriminatedUnion('kind', [
    z
      .object({ kind: z.literal('buildNotOffered'), seenAt: Instant, nearest })
      .meta({ description: 'The last scan, at `seenAt`, did not find the build on offer.' }),
    z
      .object({ kind: z.literal('collectorUnknown') })
      .meta({ description: 'The service has no installed collector with this id.' }),
    z
      .object({ kind: z.literal('stratumEmpty'), nearest })
      .meta({ description: 'No collector of the plan belongs to the stratum; late joiners would be held.' }),
    z
      .object({ kind: z.literal('rolloutEnded') })
      .meta({ description: 'The rollout that held the stratum has ended.' }),
  ])
  .meta({ id: 'HoldNote' });

export const HoldAnswerBody = z
  .object({
    kind: z
      .enum(['done', 'unchanged'])
      .meta({ description: '`unchanged`: it was so before, and the first word stands.' }),
    subject: HeldSubjectBody,
    note: HoldNoteBody.exactOptional().meta({ description: 'What a person should know about it.' }),
  })
  .meta({ id: 'HoldAnswer' });
export type HoldAnswerBody = z.infer<typeof HoldAnswerBody>;

export const HeldThingsBody = z
  .object({
    builds: z.array(BuildHoldBody).readonly(),
    collectors: z
      .array(
        z.object({
          collectorId: z.number(),
          name: z.string().exactOptional(),
          by: z.string(),
          reason: z.string(),
          at: Instant,
        }),
      )
      .readonly(),
    strata: z
      .array(
        z.object({
          policy: z.string(),
          rolloutId: z.string(),
          isEnded: z.boolean().meta({ description: 'The rollout that holds it has ended.' }),
          label: z.string(),
          reason: z.string(),
          by: z.string(),
          at: Instant,
        }),
      )
      .readonly(),
  })
  .meta({ id: 'HeldThings', description: 'Everything that is held, and by whom.' });
export type HeldThingsBody = z.infer<typeof HeldThingsBody>;

export const AuditEntryBody = z
  .object({
    at: Instant,
    event: z.enum([
      'build.held',
      'build.released',
      'collector.held',
      'collector.released',
      'record.lost',
      'config.reloaded',
    ]),
    subject: z.string().meta({
      description:
        "The build, or the collector's id; for `record.lost`, where what is lost was kept; for `config.reloaded`, `config`.",
    }),
    by: z.string(),
    reason: z.string(),
  })
  .meta({
    id: 'AuditEntry',
    description:
      'What was held, released or configured beside rollouts, and that the record was lost: who, why, when.',
  });
export type AuditEntryBody = z.infer<typeof AuditEntryBody>;
