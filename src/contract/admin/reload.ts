import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { VerbBody } from './verb-body.ts';

const PolicyDifferenceBody = z
  .object({
    key: z.string().meta({ description: 'As in the file: `concurrency`, `waves.canary.maxFailures`.' }),
    from: z.string().meta({ description: 'Empty: it was absent.' }),
    to: z.string().meta({ description: 'Empty: it is absent now.' }),
    takesEffect: z.enum(['now', 'nextRollout']).meta({
      description:
        '`now`: it applies to a running rollout at once. `nextRollout`: it is part of the plan, which is frozen.',
    }),
  })
  .meta({ id: 'PolicyDifference', description: 'One key of a policy. The texts hold no secret.' });

const changes = {
  policies: z
    .array(
      z.object({
        policy: z.string(),
        kind: z.enum(['added', 'removed', 'changed']),
        differences: z.array(PolicyDifferenceBody).readonly(),
      }),
    )
    .readonly()
    .meta({ description: 'What changed in the file.' }),
  settings: z.array(z.string()).readonly().meta({
    description: 'Keys outside of `rollouts` that differ and take effect with the reload.',
  }),
  needsRestart: z.array(z.string()).readonly().meta({
    description: 'Keys outside of `rollouts` that differ. They take effect when the daemon is restarted.',
  }),
  rollouts: z
    .array(
      z.object({
        rollout: z.string(),
        followed: z.array(PolicyDifferenceBody).readonly().meta({
          description: 'In force now. In a preview: in force after the reload.',
        }),
        waiting: z
          .array(PolicyDifferenceBody)
          .readonly()
          .meta({ description: 'In force from the next rollout of the policy.' }),
      }),
    )
    .readonly()
    .meta({ description: 'The running rollouts, and what the reload changes for them.' }),
  warnings: z.array(z.string()).readonly(),
};

export const ReloadAnswerBody = z
  .object({ kind: z.enum(['reloaded', 'unchanged']), ...changes })
  .meta({ id: 'ReloadAnswer' });
export type ReloadAnswerBody = z.infer<typeof ReloadAnswerBody>;

export const ReloadPreviewBody = z
  .object({
    ...changes,
    configs: z
      .array(z.object({ policy: z.string(), hash: z.string() }))
      .readonly()
      .meta({ description: 'A hash of each policy in the file, for comparing two files.' }),
  })
  .meta({ id: 'ReloadPreview', description: 'What a reload would change.' });
export type ReloadPreviewBody = z.infer<typeof ReloadPreviewBody>;

export const previewReload = defineOperation({
  name: 'previewReload',
  method: 'GET',
  path: '/reload-preview',
  summary: 'Show what a reload would change',
  answer: { status: 200, body: ReloadPreviewBody },
  errors: ['invalid', 'unavailable'],
  source:
    'DESIGN §4, Reload: what this daemon would read, and which running rollouts would follow; changes nothing',
});

export const reloadConfig = defineOperation({
  name: 'reloadConfig',
  method: 'POST',
  path: '/reload',
  summary: 'Read the config file again',
  body: VerbBody,
  answer: { status: 200, body: ReloadAnswerBody },
  errors: ['invalid', 'unavailable'],
  idempotent: true,
  source: 'DESIGN §4, Reload: this daemon reads its config file again; a file with mistakes changes nothing',
});
