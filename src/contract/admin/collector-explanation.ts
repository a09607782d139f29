import { z } from 'zod';
import { explanationKinds } from '../../base/vocabulary.ts';
import { SharedAttribute } from './rollout-status.ts';
import { Instant, listOf, namedObject, rowsOf, UpgradeStateName } from './status-parts.ts';

const AttemptStatus = namedObject(
  'Attempt',
  'One upgrade task, or a create that the service refused for good.',
  {
    taskId: z.string().nullable().describe('null: refused before there was a task, or adopted.'),
    startedAt: Instant,
    endedAt: Instant.nullable().describe('null: it is running.'),
    state: UpgradeStateName.describe('The state after the attempt.'),
    reason: z.string(),
  },
);
export type AttemptStatus = z.infer<typeof AttemptStatus>;

const Texts = listOf(z.string()).exactOptional();
const SelectionRuleBody = namedObject(
  'SelectionRule',
  "The rule of the policy's selection that leaves it out.",
  {
    path: z.string().describe('Its place in the policy: `select.exclude[1]`.'),
    rule: z
      .object({
        name: Texts,
        category: Texts,
        hostName: Texts,
        osName: Texts,
        osArch: Texts,
        sourceSyncMode: Texts,
        id: listOf(z.number()).exactOptional(),
        version: Texts,
        ephemeral: z.boolean().exactOptional(),
        fields: z.record(z.string(), listOf(z.string())).readonly().exactOptional(),
      })
      .describe('As in the config, each text in a list.'),
  },
);

const ExplanationKindName = z
  .enum(explanationKinds)
  .meta({ id: 'ExplanationKind', description: 'For programs. `reason` is the sentence for people.' });

const PastUpgrade = namedObject(
  'PastUpgrade',
  'An upgrade of the collector in an earlier rollout, which has ended or is being rolled back.',
  {
    rollout: z.string(),
    policy: z.string(),
    kind: z.enum(['upgrade', 'rollback']),
    state: UpgradeStateName,
    fromBuild: z.string(),
    toBuild: z.string(),
    at: Instant.nullable().describe('When it ended.'),
    reason: z.string(),
    attempts: listOf(AttemptStatus),
  },
);
export type PastUpgrade = z.infer<typeof PastUpgrade>;

const Explanation = z.object({
  kind: ExplanationKindName,
  policy: z.string(),
  rollout: z.string().nullable().describe('The running rollout; null: there is none.'),
  wave: z.string().nullable().describe('null: it is not in the plan.'),
  state: UpgradeStateName.nullable(),
  target: z.string().nullable().describe('The target build of the policy.'),
  stratum: z.string().nullable().describe('By `spreadBy`; null: unknown.'),
  heldGroup: z
    .string()
    .nullable()
    .describe('The held group of the rollout that it belongs to: `fields.rack=r7`; null: none.'),
  shared: SharedAttribute.nullable().describe(
    'What the failures of the rollout have in common, where the collector has it and is not upgraded; null: nothing.',
  ),
  attempts: listOf(AttemptStatus).describe('In this rollout, oldest first.'),
  rule: SelectionRuleBody.nullable(),
  reason: z.string(),
  until: Instant.nullable().describe('When that may change, if known.'),
});
export type Explanation = z.infer<typeof Explanation>;

const SeenCollector = namedObject('SeenCollector', 'A collector as the service shows it now.', {
  hostName: z.string(),
  alive: z.boolean(),
  lastSeenAt: Instant.nullable().describe('Its last heartbeat; null: none is known.'),
});
export type SeenCollector = z.infer<typeof SeenCollector>;

/** Why a collector is not upgraded now, and when it may be, for each policy. */
export const CollectorExplanation = namedObject(
  'CollectorExplanation',
  'The state of a collector in each policy, and why.',
  {
    collectorId: z.number(),
    collectorName: z.string(),
    build: z.string().describe('The build it runs; empty: unknown.'),
    seen: SeenCollector.nullable().describe('Null: the service gave no answer, or has no such collector.'),
    attributes: rowsOf({ key: z.string(), value: z.string() }).describe(
      'What it may share with others, as when it was planned, or as the service shows it. `hold` takes them as `key=value`.',
    ),
    explanations: listOf(Explanation).describe('Policies that select it come first.'),
    history: listOf(PastUpgrade).describe('Upgrades in the latest rollouts of each policy, newest first.'),
  },
);
export type CollectorExplanation = z.infer<typeof CollectorExplanation>;
