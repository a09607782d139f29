import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { listOf, namedObject, rowsOf } from './status-parts.ts';
import { VerbBody } from './verb-body.ts';

const PolicyDifference = namedObject('PolicyDifference', 'One key of a policy. The texts hold no secret.', {
  key: z.string().describe('As in the file: `concurrency`, `waves.canary.maxFailures`.'),
  from: z.string().describe('Empty: it was absent.'),
  to: z.string().describe('Empty: it is absent now.'),
  takesEffect: z
    .enum(['now', 'nextRollout'])
    .describe(
      '`now`: it applies to a running rollout immediately. `nextRollout`: it is part of the plan, which is frozen.',
    ),
});
export type PolicyDifference = z.infer<typeof PolicyDifference>;

const PolicyChange = z.object({
  policy: z.string(),
  kind: z.enum(['added', 'removed', 'changed']),
  differences: listOf(PolicyDifference),
});
export type PolicyChange = z.infer<typeof PolicyChange>;

const FollowedConfig = z.object({
  rollout: z.string(),
  followed: listOf(PolicyDifference).describe('In force now. In a preview: in force after the reload.'),
  waiting: listOf(PolicyDifference).describe('In force from the next rollout of the policy.'),
});
export type FollowedConfig = z.infer<typeof FollowedConfig>;

const changes = {
  policies: listOf(PolicyChange).describe('What changed in the file.'),
  settings: listOf(z.string()).describe(
    'Keys outside of `rollouts` that differ and take effect with the reload.',
  ),
  needsRestart: listOf(z.string()).describe(
    'Keys outside of `rollouts` that differ. They take effect when the daemon is restarted.',
  ),
  rollouts: listOf(FollowedConfig).describe('The running rollouts, and what the reload changes for them.'),
  warnings: listOf(z.string()),
};
export type ReloadChanges = Omit<z.infer<typeof ReloadAnswer>, 'kind'>;

export const ReloadAnswer = z
  .object({ kind: z.enum(['reloaded', 'unchanged']), ...changes })
  .meta({ id: 'ReloadAnswer' });
export type ReloadAnswer = z.infer<typeof ReloadAnswer>;

export const ReloadPreview = namedObject('ReloadPreview', 'What a reload would change.', {
  ...changes,
  configs: rowsOf({ policy: z.string(), hash: z.string() }).describe(
    'A hash of each policy in the file, for comparing two files.',
  ),
});
export type ReloadPreview = z.infer<typeof ReloadPreview>;

export const previewReload = defineOperation({
  name: 'previewReload',
  route: 'GET /reload-preview',
  summary: 'Show what a reload would change',
  answer: { status: 200, body: ReloadPreview },
  errors: ['invalid', 'unavailable'],
  source:
    'DESIGN §4, Reload: what this daemon would read, and which running rollouts would follow; changes nothing',
});

export const reloadConfig = defineOperation({
  name: 'reloadConfig',
  route: 'POST /reload',
  summary: 'Read the config file again',
  body: VerbBody,
  answer: { status: 200, body: ReloadAnswer },
  errors: ['invalid', 'unavailable'],
  idempotent: true,
  source: 'DESIGN §4, Reload: this daemon reads its config file again; a file with errors changes nothing',
});
