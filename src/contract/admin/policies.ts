import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { RolloutStatus } from './rollout-status.ts';
import {
  ExpectedFailures,
  Instant,
  listOf,
  namedObject,
  RolloutStateName,
  rowsOf,
  ShownLeftOut,
  WorkEstimate,
} from './status-parts.ts';
import { whyAndWho } from './verb-body.ts';

const ScanOutcomeName = z.enum(['started', 'busy', 'nothing', 'failed']).meta({
  id: 'ScanOutcome',
  description:
    'The outcome of a scan. `busy`: the policy has a running rollout. `failed` also when the scan could not read that rollout.',
});

const PolicyStatus = namedObject('PolicyStatus', 'A policy and its scans.', {
  policy: z.string(),
  accountName: z
    .string()
    .exactOptional()
    .describe('The name of its account in the config; absent: the config has one account.'),
  lastScan: z
    .object({ at: Instant, outcome: ScanOutcomeName, reason: z.string() })
    .nullable()
    .describe('The last scan; null before the first one.'),
  needs: z
    .object({
      kind: z.literal('start'),
      reason: z.string().describe('Why.'),
    })
    .exactOptional()
    .describe(
      'What an operator has to do. `start`: Redis lost a rollout that had stopped, and no rollout of the policy starts until an operator starts one. Absent: nothing, or a rollout runs.',
    ),
  lastGoodAt: Instant.nullable().describe('The last scan that did not fail.'),
  nextScanAt: Instant.nullable().describe(
    'When the next scan is due: by the schedule, or sooner after a failed one.',
  ),
  config: z
    .object({
      kind: z.enum(['agreed', 'newest', 'outdated', 'superseded']),
      others: z.number().int().min(0),
    })
    .describe(
      'Compares the config of this daemon with those of the others. `outdated`: `others` have a newer config of the policy, and only they scan and plan it. `superseded`: limits of the running rollout come from a newer config which no running daemon has.',
    ),
});
export type PolicyStatus = z.infer<typeof PolicyStatus>;
export type PolicyNeed = NonNullable<PolicyStatus['needs']>;

const OrphanedRollout = z.object({ id: z.string(), policy: z.string(), state: RolloutStateName });
export type OrphanedRollout = z.infer<typeof OrphanedRollout>;

export const PolicyStatuses = z
  .object({
    notReady: z
      .string()
      .exactOptional()
      .describe('Why this daemon cannot work: because of Redis, or of its clock. Absent while it can.'),
    configProblem: z
      .string()
      .exactOptional()
      .describe(
        'What is wrong with the config file. Until it is corrected, this daemon uses the last valid config. Absent: nothing.',
      ),
    configDifference: z
      .string()
      .exactOptional()
      .describe(
        'How the config of this daemon differs from those of other running daemons outside of the policies; absent: it does not.',
      ),
    notificationProblems: listOf(z.string())
      .exactOptional()
      .describe('Receivers whose notifications fail, and why; absent: none.'),
    reports: z
      .object({
        directory: z.string(),
        problem: z
          .string()
          .exactOptional()
          .describe('Why this daemon cannot write reports; absent: it can, or another daemon leads.'),
      })
      .exactOptional()
      .describe('Where reports of ended rollouts are written; absent: nowhere.'),
    policies: listOf(PolicyStatus).describe('The configured policies, in order.'),
    orphans: listOf(OrphanedRollout).describe(
      'Running rollouts that wait because their policy is not in the config.',
    ),
  })
  .meta({ id: 'PolicyStatuses' });
export type PolicyStatuses = z.infer<typeof PolicyStatuses>;

export const listPolicies = defineOperation({
  name: 'listPolicies',
  summary: 'List the policies with their last and next scan',
  route: 'GET /policies',
  answer: { status: 200, body: PolicyStatuses },
  errors: ['unavailable'],
  source: 'DESIGN §5: the last scan of each policy, its outcome, and when the next one is due',
});

const policyName = z.object({ policy: z.string().min(1).max(200).describe('Its name.') });

const StartPreview = namedObject('StartPreview', 'What `start` would start now.', {
  policy: z.string(),
  planHash: z.string().describe('Identifies this plan for `start`.'),
  targetBuild: z.string(),
  planned: z.number().int().min(0).describe('Collectors of the plan.'),
  waves: rowsOf({ name: z.string(), size: z.number().int().min(0), soakMs: z.number() }),
  concurrency: z.number().int().min(0).describe('How many are upgraded at the same time.'),
  estimate: WorkEstimate.describe('How long the plan takes, without the wait for approvals.'),
  leftOut: listOf(ShownLeftOut).describe('Collectors that the plan leaves out, by reason.'),
  earlier: z
    .object({
      rollout: z.string(),
      state: z.enum(['aborted', 'rolledBack']),
      reason: z.string(),
      at: Instant,
    })
    .nullable()
    .describe('The last rollout of the policy to this build, if it was given up.'),
  failedBefore: z
    .number()
    .int()
    .min(0)
    .describe('Planned collectors whose upgrade to this build failed in an earlier rollout of the policy.'),
  expectedFailures: ExpectedFailures.nullable().describe('Null: no ended rollout shows anything.'),
  approval: z.boolean().describe('The plan then waits for `approve`.'),
  window: z
    .object({ isOpen: z.boolean(), until: Instant.nullable(), reason: z.string() })
    .describe('Whether upgrades may start now, by the time zone of the policy.'),
});
export type StartPreview = z.infer<typeof StartPreview>;

const policyErrors = ['notFound', 'refused', 'unavailable'];

export const previewStart = defineOperation({
  name: 'previewStart',
  route: 'GET /policies/{policy}/start-preview',
  summary: 'Show the rollout that would start now',
  params: policyName,
  answer: { status: 200, body: StartPreview },
  errors: policyErrors,
  source: 'P15: what `start` would start now; reads the fleet, and may take minutes',
});

const planHashLengthMax = 100;

export const startPolicy = defineOperation({
  name: 'startPolicy',
  route: 'POST /policies/{policy}/start',
  summary: 'Start the rollout of the previewed plan',
  params: policyName,
  body: z.object({
    ...whyAndWho,
    planHash: z
      .string()
      .trim()
      .min(1)
      .max(planHashLengthMax)
      .describe('From the preview. If the plan has changed since, the start is refused.'),
  }),
  answer: { status: 200, body: RolloutStatus },
  errors: policyErrors,
  source: 'P15: also when the last rollout to this build was aborted or rolled back; may take minutes',
});
