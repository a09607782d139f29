import { z } from 'zod';
import {
  blockerKinds,
  etaUnknownReasons,
  headlineKinds,
  rolloutReasonKinds,
  upgradeReasonKinds,
} from '../../base/vocabulary.ts';
import {
  BuildHold,
  Count,
  Counts,
  DriftStatus,
  ExpectedFailures,
  FailureClassName,
  Instant,
  listOf,
  namedObject,
  RolloutStateName,
  RolloutVerbName,
  rowsOf,
  ShownLeftBehind,
  ShownLeftOut,
  StrataStatus,
  UpgradeStateName,
  WaveStatus,
  WindowStatus,
} from './status-parts.ts';

const OthersCount = Count.describe('Those not in any listed one.');

const Cause = namedObject('Cause', 'Upgrades alike in kind, class and message.', {
  kind: z
    .enum(['failed', 'timedOut', 'unconfirmed', 'retrying', 'notAlive', 'inUpgrade', 'withdrawn'])
    .describe('`notAlive` and `inUpgrade`: why an upgrade is deferred.'),
  failureClass: FailureClassName.nullable().describe('The class of a failure; null otherwise.'),
  text: z.string().describe('The message; `…` stands for a path, a number or a name that differs.'),
  count: Count,
  strata: rowsOf({ label: z.string(), count: Count }).describe(
    'By label, like `Linux / amd64 / 19.441-2`; three at most.',
  ),
  otherStrata: z.object({ count: OthersCount, strata: Count }),
  names: listOf(z.string()).describe('Of some collectors.'),
});
export type Cause = z.infer<typeof Cause>;

const CauseGroup = namedObject(
  'CauseGroup',
  'Why upgrades failed, are retried, are deferred, or were withdrawn.',
  {
    of: z.enum(['failed', 'retrying', 'deferred', 'withdrawn']),
    total: Count.describe('The sum of all causes and of the others.'),
    causes: listOf(Cause).describe('The most frequent first; five at most.'),
    others: z.object({
      count: OthersCount,
      causes: Count.describe('How many causes these have, as far as they were read.'),
      unread: Count.describe('How many of these were not read: only the latest are.'),
    }),
  },
);
export type CauseGroup = z.infer<typeof CauseGroup>;

const Outage = namedObject('Outage', 'Why no requests are being sent.', {
  kind: z.enum(['rateLimited', 'signInThrottled', 'serviceDown']),
  reason: z.string(),
  detail: z.string().nullable().describe('The last failure; null for a pause.'),
  since: Instant.nullable().describe('When the outage began; null for a pause.'),
  until: Instant.nullable().describe(
    'When the pause ends, or the next attempt is due; null: an attempt is in flight.',
  ),
});
export type Outage = z.infer<typeof Outage>;

const ApiBudgetStatus = namedObject('ApiBudgetStatus', 'The API budget of all daemons with the access key.', {
  requestsPerSecond: z.number().describe('Requests sent, averaged over the last minute.'),
  requestsPerSecondNow: z
    .number()
    .describe('The rate that may be used now. It is below the maximum for some minutes after each 429.'),
  requestsPerSecondMax: z.number().describe('The configured rate.'),
  rateLimited: Count.describe('429s in the last hour; simultaneous ones count as one.'),
  outage: Outage.nullable(),
});
export type ApiBudgetStatus = z.infer<typeof ApiBudgetStatus>;

const Headline = namedObject('Headline', 'The state of a rollout for people, in one kind.', {
  kind: z.enum(headlineKinds),
  needsPerson: z.boolean().describe('True when it does not continue until a person acts.'),
});
export type Headline = z.infer<typeof Headline>;

const WaitsFor = namedObject('WaitsFor', 'What a running rollout waits for while nothing is in flight.', {
  kind: z
    .enum(['window', 'collectors', 'inventory'])
    .describe(
      '`window`: all remaining upgrades wait for an open window. `collectors`: only deferred collectors remain. `inventory`: the inventory is implausible, and is read again.',
    ),
  until: Instant.nullable().describe('Null: unknown.'),
});
export type WaitsFor = z.infer<typeof WaitsFor>;

const AttributedFailures = { failed: Count, tried: Count };
export const SharedAttribute = namedObject('SharedAttribute', 'What the failures have in common.', {
  attributes: rowsOf({ key: z.string(), value: z.string() }).describe('One or two. A value may end in `*`.'),
  ...AttributedFailures,
  elsewhere: z.object(AttributedFailures),
  share: z.number().describe('The share of planned collectors that have them.'),
  apartFromHeld: z
    .literal(true)
    .exactOptional()
    .describe('Members of held groups are not counted. Absent: they are, or there are none.'),
  cause: z
    .object({
      of: z.enum(['failed', 'retrying']),
      text: z.string(),
      ended: Count.describe('Its collectors that failed, and are not retried.'),
    })
    .exactOptional()
    .describe(
      'Only failures of this cause are counted; an empty text: of any. `retrying`: with failed attempts, which are retried. Absent: all failures.',
    ),
});
export type SharedAttribute = z.infer<typeof SharedAttribute>;

const EtaHeld = {
  held: Count.exactOptional().describe(
    'Collectors of held strata. The estimate does not count them. Absent: none.',
  ),
};
const EtaFigures = {
  ...EtaHeld,
  plusMinusMs: z
    .number()
    .describe('Half the width of the expected range, without the time in which windows are closed.'),
  overdue: Count.exactOptional().describe(
    'Running upgrades that have taken longer than all known ones. The range reaches to their deadline and what may follow it. Absent: none.',
  ),
  requests: Count,
};
const Eta = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('at'), at: Instant, ...EtaFigures }).describe('Includes known pauses.'),
    z
      .object({
        kind: z.literal('afterApproval'),
        approvalAt: Instant.nullable().describe(
          'When the rollout is expected to wait for the approval; null: it waits now.',
        ),
        durationMs: z.number().describe('From the approval to the end.'),
        ...EtaFigures,
      })
      .describe('The end depends on a person, so there is no instant.'),
    z
      .object({
        kind: z.literal('atTheLatest'),
        at: Instant,
        othersAt: Instant.nullable().describe(
          'When all others are expected to have ended; null: only deferred collectors remain.',
        ),
        ...EtaHeld,
      })
      .describe('Deferred collectors remain. The last of them is withdrawn then.'),
    z.object({
      kind: z.literal('unknown'),
      reason: z.enum(etaUnknownReasons),
    }),
  ])
  .meta({ id: 'Eta', description: 'When a rollout is expected to end.' });
export type Eta = z.infer<typeof Eta>;

const HeldFor = namedObject('HeldFor', 'What a held rollout waits for.', {
  kind: z.enum(['evidence']).describe('No collector of the wave is upgraded, and none can be upgraded now.'),
  wave: Count.describe('Index of the wave in the plan.'),
});
export type HeldFor = z.infer<typeof HeldFor>;

const ShownBlocker = namedObject('Blocker', 'Why nothing more starts right now.', {
  kind: z.enum(blockerKinds),
  reason: z.string().describe('The same for people, with figures.'),
  until: Instant.nullable().describe('When it may end automatically, if known.'),
});
export type ShownBlocker = z.infer<typeof ShownBlocker>;

export const RolloutStatus = namedObject('RolloutStatus', 'The status of a rollout.', {
  id: z.string(),
  kind: z.enum(['upgrade', 'rollback']),
  rollbackOf: z.string().nullable().describe('For a rollback: the original rollout.'),
  rollbackId: z.string().nullable().describe('Its rollback, once that has started.'),
  policy: z.string(),
  headline: Headline,
  state: RolloutStateName,
  reason: z.string(),
  reasonKind: z.enum(rolloutReasonKinds),
  hold: z
    .int()
    .nullable()
    .describe('The number of the current hold or pause, which `resume` names; null without one.'),
  heldFor: HeldFor.nullable().describe(
    'Set while a hold ends automatically when this occurs. A pause clears it.',
  ),
  account: z
    .enum(['own', 'unknown', 'another', 'unclear'])
    .describe(
      "Whether it belongs to this daemon's account. The daemon works on its `own` rollouts only. `unknown`: it is being checked.",
    ),
  accountName: z
    .string()
    .exactOptional()
    .describe('The name of its account in the config; absent: the config has one account.'),
  recordUnreadable: z
    .enum(['corrupt', 'newer'])
    .nullable()
    .describe(
      'Why its record in Redis is unreadable. The status then shows only what other records hold. `newer`: a newer upwave wrote it, and this daemon leaves it alone.',
    ),
  targetBuild: z.string(),
  backTo: listOf(z.string()).describe('For a rollback: the builds it goes back to, most frequent first.'),
  leftBehind: listOf(ShownLeftBehind).describe(
    'Collectors that a rollback does not roll back, and why. Also shown for the original rollout.',
  ),
  fromBuilds: listOf(z.string()).describe('The builds that most of its collectors had, at most 5.'),
  fromOthers: Count.describe('How many of its collectors had further builds.'),
  planHash: z.string(),
  drift: DriftStatus.nullable().describe(
    'While the plan waits for approval: how the fleet has changed since the previous plan.',
  ),
  startedBy: z
    .string()
    .describe('An operator, `schedule`, `start` (of the daemon), or for a rollback its original rollout.'),
  createdAt: Instant,
  endedAt: Instant.nullable(),
  planned: Count,
  counts: Counts,
  causes: listOf(CauseGroup).describe('Groups without an upgrade are left out.'),
  sharedAttribute: SharedAttribute.nullable().describe('Null: nothing beyond chance.'),
  unweighedFields: listOf(z.string()).describe(
    'Fields that the plan has no room for. Failures are not weighed by them. The most telling first.',
  ),
  leftOut: listOf(ShownLeftOut),
  inFlight: Count,
  concurrency: Count,
  lostWeight: z.number().describe('How many failures a collector counts as when it did not come back.'),
  eta: Eta.nullable().describe('When it is expected to end; null once it has.'),
  api: ApiBudgetStatus.nullable().describe(
    'The budget that all rollouts share; null for one that has ended.',
  ),
  window: WindowStatus.nullable().describe(
    "In the policy's time zone; null when upgrades may start at any time.",
  ),
  buildHold: BuildHold.nullable().describe('Set while the target build is held.'),
  strata: StrataStatus,
  expectedFailures: ExpectedFailures.nullable().describe(
    'While the plan waits for approval; null before and after, and where no ended rollout shows anything.',
  ),
  waves: listOf(WaveStatus),
  waitsFor: WaitsFor.nullable(),
  blockers: listOf(ShownBlocker).describe('Why nothing more starts now; empty when an upgrade can start.'),
  verbs: listOf(RolloutVerbName).describe('Verbs that are allowed now.'),
});
export type RolloutStatus = z.infer<typeof RolloutStatus>;

const AttemptResult = namedObject('AttemptResult', 'What one attempt of an upgrade came to.', {
  startedAt: Instant,
  endedAt: Instant.nullable().describe('Null: it is running.'),
  state: UpgradeStateName.describe('The state after the attempt.'),
  reasonKind: z.enum(upgradeReasonKinds).nullable().describe('What happened in the attempt itself.'),
  detail: z.string().nullable().describe("The service's message; null: there is none."),
  silentMs: z
    .number()
    .nullable()
    .describe('How long a collector that died had been silent when that was seen; null: unknown.'),
});
export type AttemptResult = z.infer<typeof AttemptResult>;

export const UpgradeBody = namedObject('Upgrade', "One collector's passage through a rollout.", {
  collectorId: z.number(),
  collectorName: z.string(),
  wave: z.string(),
  stratum: z.string().describe('The label of its stratum by `spreadBy`; empty: unknown.'),
  group: z
    .string()
    .nullable()
    .describe('The group of attributes with which the rollout held it: `osName=Windows*`; null: none.'),
  order: Count.describe('Its position among all planned collectors.'),
  state: UpgradeStateName,
  reason: z.string().nullable(),
  reasonKind: z.enum(upgradeReasonKinds).nullable(),
  fromBuild: z.string(),
  toBuild: z.string().describe('In a rollback, the build this one had before.'),
  attempts: Count.describe('Upgrade tasks created so far.'),
  taskId: z.string().nullable().describe('The current upgrade task.'),
  startedAt: Instant.nullable().describe('When its first upgrade task was created.'),
  dueAt: Instant.nullable().describe('When it is polled next.'),
  endedAt: Instant.nullable(),
  failureClass: FailureClassName.nullable(),
  results: listOf(AttemptResult)
    .exactOptional()
    .describe('What its attempts came to, oldest first: the last 10. Absent: not asked for.'),
});
export type UpgradeBody = z.infer<typeof UpgradeBody>;
