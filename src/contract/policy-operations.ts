import { z } from 'zod';
import { defineOperation } from './operation.ts';
import { Instant, RolloutStateName } from './rollout-status.ts';

const ScanOutcomeName = z.enum(['started', 'busy', 'nothing', 'failed']).meta({
  id: 'ScanOutcome',
  description:
    'What a look for work came to; `busy`: the policy has a rollout that is still on its way; `failed` also when that one could not be looked after.',
});

const PolicyStandingBody = z
  .object({
    policy: z.string(),
    lastLook: z
      .object({ at: Instant, outcome: ScanOutcomeName, reason: z.string() })
      .nullable()
      .meta({ description: 'Its last look for work; null before the first one.' }),
    lastGoodAt: Instant.nullable().meta({ description: 'Its last look for work that did not fail.' }),
    nextLookAt: Instant.nullable().meta({ description: 'When it looks next by its schedule.' }),
    config: z
      .object({ kind: z.enum(['agreed', 'newest', 'outdated']), others: z.number().int().min(0) })
      .meta({
        description:
          'How the config of this daemon stands to those of the others. `outdated`: so many others have a newer config of the policy, and only they scan and plan it.',
      }),
  })
  .meta({ id: 'PolicyStanding', description: "How a policy's looks for work went." });

export const PolicyStandingsBody = z
  .object({
    notReady: z
      .string()
      .exactOptional()
      .meta({ description: 'Why Redis lets this daemon do no work; absent while it does.' }),
    configProblem: z.string().exactOptional().meta({
      description:
        'What is wrong with the config file. This daemon works by what it read before; absent: nothing.',
    }),
    policies: z
      .array(PolicyStandingBody)
      .readonly()
      .meta({ description: 'Those of the config, in its order.' }),
    orphans: z
      .array(z.object({ id: z.string(), policy: z.string(), state: RolloutStateName }))
      .readonly()
      .meta({
        description: 'Rollouts on their way that stand still, since their policy is not in the config.',
      }),
  })
  .meta({ id: 'PolicyStandings' });
export type PolicyStandingsBody = z.infer<typeof PolicyStandingsBody>;

export const listPolicies = defineOperation({
  name: 'listPolicies',
  summary: 'List the policies with their last and next scan',
  method: 'GET',
  path: '/policies',
  answer: { status: 200, body: PolicyStandingsBody },
  errors: ['unavailable'],
  idempotent: true,
  source: 'DESIGN §5: when each policy looked for work last, what came of it, and when it looks next',
});
