import { z } from 'zod';
import { explanationKinds } from '../../base/vocabulary.ts';
import { Instant, UpgradeStateName } from './status-parts.ts';

const AttemptBody = z
  .object({
    taskId: z.string().nullable().meta({ description: 'null: refused before there was a task, or adopted.' }),
    startedAt: Instant,
    endedAt: Instant.nullable().meta({ description: 'null: it is running.' }),
    state: UpgradeStateName.meta({ description: 'The state after the attempt.' }),
    reason: z.string(),
  })
  .meta({ id: 'Attempt', description: 'One upgrade task, or a create that the service refused for good.' });

const Texts = z.array(z.string()).readonly().exactOptional();
const SelectionRuleBody = z
  .object({
    path: z.string().meta({ description: 'Its place in the policy: `select.exclude[1]`.' }),
    rule: z
      .object({
        name: Texts,
        category: Texts,
        hostName: Texts,
        osName: Texts,
        osArch: Texts,
        sourceSyncMode: Texts,
        id: z.array(z.number()).readonly().exactOptional(),
        version: Texts,
        ephemeral: z.boolean().exactOptional(),
        fields: z.record(z.string(), z.array(z.string()).readonly()).readonly().exactOptional(),
      })
      .meta({ description: 'As in the config, each text in a list.' }),
  })
  .meta({ id: 'SelectionRule', description: "The rule of the policy's selection that leaves it out." });

const ExplanationKindName = z
  .enum(explanationKinds)
  .meta({ id: 'ExplanationKind', description: 'For programs. `reason` is the sentence for people.' });

const PastUpgradeBody = z
  .object({
    rollout: z.string(),
    policy: z.string(),
    kind: z.enum(['upgrade', 'rollback']),
    state: UpgradeStateName,
    fromBuild: z.string(),
    toBuild: z.string(),
    at: Instant.nullable().meta({ description: 'When it ended.' }),
    reason: z.string(),
    attempts: z.array(AttemptBody).readonly(),
  })
  .meta({ id: 'PastUpgrade', description: 'An upgrade of the collector in a rollout that has ended.' });

/** Why a collector is not upgraded now, and when it may be, for each policy. */
export const CollectorExplanationBody = z
  .object({
    collectorId: z.number(),
    collectorName: z.string(),
    build: z.string().meta({ description: 'The build it runs.' }),
    explanations: z
      .array(
        z.object({
          kind: ExplanationKindName,
          policy: z.string(),
          rollout: z.string().nullable().meta({ description: 'The running rollout; null: there is none.' }),
          wave: z.string().nullable().meta({ description: 'null: it is not in the plan.' }),
          state: UpgradeStateName.nullable(),
          target: z.string().nullable().meta({ description: 'The target build of the policy.' }),
          stratum: z.string().nullable(),
          attempts: z.array(AttemptBody).readonly().meta({ description: 'In this rollout, oldest first.' }),
          rule: SelectionRuleBody.nullable(),
          reason: z.string(),
          until: Instant.nullable().meta({ description: 'When that may change, if known.' }),
        }),
      )
      .readonly(),
    history: z
      .array(PastUpgradeBody)
      .readonly()
      .meta({ description: 'Upgrades in the latest rollouts of each policy, newest first.' }),
  })
  .meta({ id: 'CollectorExplanation', description: 'The state of a collector in each policy, and why.' });
export type CollectorExplanationBody = z.infer<typeof CollectorExplanationBody>;
