import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { VerbBody } from './verb-body.ts';

const PolicyDifferenceBody = z
  .object({
    key: z.string().meta({ description: 'As in the file: `concurrency`, `waves.canary.maxFailures`.' }),
    from: z.string().meta({ description: 'Empty: it was not there.' }),
    to: z.string().meta({ description: 'Empty: it is not there any more.' }),
    takesEffect: z.enum(['now', 'nextRollout']).meta({
      description:
        '`now`: a running rollout follows it at once. `nextRollout`: it defines the plan, which is frozen.',
    }),
  })
  .meta({ id: 'PolicyDifference', description: 'One key of a policy. The texts hold no secret.' });

export const ReloadAnswerBody = z
  .object({
    kind: z.enum(['reloaded', 'unchanged']),
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
    needsRestart: z.array(z.string()).readonly().meta({
      description: 'Keys outside of `rollouts` that differ. They take effect when the daemon is restarted.',
    }),
    rollouts: z
      .array(
        z.object({
          rollout: z.string(),
          followed: z.array(PolicyDifferenceBody).readonly().meta({ description: 'In force now.' }),
          waiting: z
            .array(PolicyDifferenceBody)
            .readonly()
            .meta({ description: 'Left to the next rollout of the policy.' }),
        }),
      )
      .readonly()
      .meta({ description: 'The running rollouts, and which config they follow.' }),
    warnings: z.array(z.string()).readonly(),
  })
  .meta({ id: 'ReloadAnswer' });
export type ReloadAnswerBody = z.infer<typeof ReloadAnswerBody>;

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
