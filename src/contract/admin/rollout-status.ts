import { z } from 'zod';
import {
  blockerKinds,
  etaUnknownReasons,
  headlineKinds,
  rolloutReasonKinds,
  upgradeReasonKinds,
} from '../../base/vocabulary.ts';
import {
  BuildHoldBody,
  Count,
  Counts,
  FailureClassName,
  Instant,
  LeftBehindBody,
  LeftOutBody,
  PlanDriftBody,
  RolloutStateName,
  RolloutVerbName,
  StrataStatusBody,
  UpgradeStateName,
  WaveStatusBody,
  WindowStatusBody,
} from './status-parts.ts';

const OthersCount = Count.meta({ description: 'Those that are in none of the named ones.' });

const CauseBody = z
  .object({
    kind: z
      .enum(['failed', 'timedOut', 'unconfirmed', 'retrying', 'notAlive', 'inUpgrade', 'withdrawn'])
      .meta({ description: '`notAlive` and `inUpgrade`: what a deferred upgrade waits to end.' }),
    failureClass: FailureClassName.nullable().meta({ description: 'Of a failure; null in all else.' }),
    text: z.string().meta({
      description: 'The message; `…` stands for a path, a number or a name that differs.',
    }),
    count: Count,
    strata: z
      .array(z.object({ label: z.string(), count: Count }))
      .readonly()
      .meta({ description: 'By label, like `Linux / amd64 / 19.441-2`; three at most.' }),
    otherStrata: z.object({ count: OthersCount, strata: Count }),
    names: z.array(z.string()).readonly().meta({ description: 'Of some collectors.' }),
  })
  .meta({ id: 'Cause', description: 'Upgrades alike in kind, class and message.' });

const CauseGroupBody = z
  .object({
    of: z.enum(['failed', 'retrying', 'deferred', 'withdrawn']),
    total: Count.meta({ description: 'The sum of all causes and of the others.' }),
    causes: z.array(CauseBody).readonly().meta({ description: 'The most frequent first; five at most.' }),
    others: z.object({
      count: OthersCount,
      causes: Count.meta({ description: 'How many causes those have that were read.' }),
      unread: Count.meta({ description: 'How many of them were not read: only the latest are.' }),
    }),
  })
  .meta({
    id: 'CauseGroup',
    description: 'Why upgrades failed, are retried, are deferred, or were withdrawn.',
  });

const OutageBody = z
  .object({
    kind: z.enum(['rateLimited', 'signInThrottled', 'serviceDown']),
    reason: z.string(),
    detail: z.string().nullable().meta({ description: 'What came instead of an answer; null for a pause.' }),
    since: Instant.nullable().meta({ description: 'When it was found down; null for a pause.' }),
    until: Instant.nullable().meta({
      description: 'When the pause ends, or a request tries again; null: one tries it right now.',
    }),
  })
  .meta({ id: 'Outage', description: 'Why no requests are being sent.' });

const ApiBudgetStatusBody = z
  .object({
    requestsPerSecond: z
      .number()
      .meta({ description: 'Requests that got their place, over the last minute.' }),
    requestsPerSecondNow: z.number().meta({
      description: 'What may be used now: less than the maximum for some minutes after each 429.',
    }),
    requestsPerSecondMax: z.number().meta({ description: 'What the config allows.' }),
    rateLimited: Count.meta({ description: '429s in the last hour; those that came at once are one.' }),
    outage: OutageBody.nullable(),
  })
  .meta({
    id: 'ApiBudgetStatus',
    description: 'How the API budget stands, over all daemons on its access key.',
  });

const HeadlineBody = z
  .object({
    kind: z.enum(headlineKinds),
    needsPerson: z.boolean().meta({ description: 'It does not go on until a person acts.' }),
  })
  .meta({ id: 'Headline', description: 'What a person reads first: what has to be done.' });

const WaitsForBody = z
  .object({
    kind: z.enum(['window', 'collectors', 'inventory']).meta({
      description:
        '`window`: all that could start waits for an open window. `collectors`: only deferred collectors remain. `inventory`: the inventory is not plausible, and is read again.',
    }),
    until: Instant.nullable().meta({ description: 'Null where that is not known.' }),
  })
  .meta({
    id: 'WaitsFor',
    description: 'What a running rollout waits for while nothing of it is in flight.',
  });

const AttributedFailures = { failed: Count, tried: Count };
const SharedAttributeBody = z
  .object({
    attributes: z
      .array(z.object({ key: z.string(), value: z.string() }))
      .readonly()
      .meta({ description: 'One or two. A value may end in `*`.' }),
    ...AttributedFailures,
    elsewhere: z.object(AttributedFailures),
    share: z.number().exactOptional().meta({
      description: 'Collectors of the plan that have them, as a share of all. Absent: not known.',
    }),
  })
  .meta({ id: 'SharedAttribute', description: 'What the failures have in common.' });

const EtaFigures = {
  plusMinusMs: z.number().meta({ description: 'Half the range in which the end is expected.' }),
  requests: Count,
};
const EtaBody = z
  .discriminatedUnion('kind', [
    z
      .object({ kind: z.literal('at'), at: Instant, ...EtaFigures })
      .meta({ description: 'Pauses that are known of included.' }),
    z
      .object({
        kind: z.literal('afterApproval'),
        approvalAt: Instant.nullable().meta({
          description: 'When the approval is expected to be waited for; null: it is waited for now.',
        }),
        durationMs: z.number().meta({ description: 'From the approval to the end.' }),
        ...EtaFigures,
      })
      .meta({ description: 'It depends on a person, so there is no instant.' }),
    z
      .object({ kind: z.literal('atTheLatest'), at: Instant })
      .meta({ description: 'Only deferred collectors remain: the last of them is given up then.' }),
    z.object({
      kind: z.literal('unknown'),
      reason: z.enum(etaUnknownReasons),
    }),
  ])
  .meta({ id: 'Eta', description: 'When a rollout is expected to end, as far as that can be known.' });

const HeldForBody = z
  .object({
    kind: z
      .enum(['evidence'])
      .meta({ description: 'No collector of the wave is upgraded, and none of them can be any more.' }),
    wave: Count.meta({ description: 'Index of the wave in the plan.' }),
  })
  .meta({ id: 'HeldFor', description: 'What a rollout that is held waits for.' });

const BlockerBody = z
  .object({
    kind: z.enum(blockerKinds),
    reason: z.string().meta({ description: 'The same for people, with figures.' }),
    until: Instant.nullable().meta({ description: 'When it may end by itself, where that is known.' }),
  })
  .meta({ id: 'Blocker', description: 'Why nothing more starts right now.' });

export const RolloutStatusBody = z
  .object({
    id: z.string(),
    kind: z.enum(['upgrade', 'rollback']),
    rollbackOf: z.string().nullable().meta({ description: 'For a rollback: the rollout it takes back.' }),
    rollbackId: z.string().nullable().meta({ description: 'Its rollback, once that has started.' }),
    policy: z.string(),
    headline: HeadlineBody,
    state: RolloutStateName,
    reason: z.string(),
    reasonKind: z
      .enum(rolloutReasonKinds)
      .meta({ description: '`text`: an earlier version wrote the sentence alone.' }),
    hold: z.int().nullable().meta({
      description:
        'Number of the hold or pause that it is in, by which `resume` names it; null while in none.',
    }),
    heldFor: HeldForBody.nullable().meta({
      description:
        'Set while it is held until something comes by itself; it continues then. A pause ends that.',
    }),
    account: z.enum(['own', 'unknown', 'another', 'unclear']).meta({
      description:
        'Whether it belongs to the account of this daemon, which works only on its `own`; `unknown`: that is being found out.',
    }),
    recordUnreadable: z.enum(['corrupt', 'newer']).nullable().meta({
      description:
        'Why its own record in Redis cannot be read: what is shown is what is known beside it. `newer`: a newer upwave has written it, and this daemon leaves it alone.',
    }),
    targetBuild: z.string(),
    backTo: z
      .array(z.string())
      .readonly()
      .meta({ description: 'For a rollback: the builds it goes back to, most frequent first.' }),
    leftBehind: z.array(LeftBehindBody).readonly().meta({
      description: 'Whom a rollback does not take back, and why; also of the rollout that is taken back.',
    }),
    fromBuilds: z.array(z.string()).readonly(),
    planHash: z.string(),
    drift: PlanDriftBody.nullable().meta({
      description: 'While the plan waits for approval: how the fleet moved since it was shown before.',
    }),
    startedBy: z.string(),
    createdAt: Instant,
    endedAt: Instant.nullable(),
    planned: Count,
    counts: Counts,
    causes: z
      .array(CauseGroupBody)
      .readonly()
      .meta({ description: 'Groups without an upgrade are left out.' }),
    sharedAttribute: SharedAttributeBody.nullable().meta({
      description: 'Null: nothing that is more than chance.',
    }),
    leftOut: z.array(LeftOutBody).readonly(),
    inFlight: Count,
    concurrency: Count,
    lostWeight: z
      .number()
      .meta({ description: 'As how many failures a collector counts that did not come back.' }),
    eta: EtaBody.nullable().meta({ description: 'When it is expected to end; null once it has.' }),
    api: ApiBudgetStatusBody.nullable().meta({
      description: 'The budget that all rollouts share; null for one that has ended.',
    }),
    window: WindowStatusBody.nullable().meta({
      description: "By the policy's own time zone; null where upgrades may start at any time.",
    }),
    buildHold: BuildHoldBody.nullable().meta({ description: 'Set while the target build is held.' }),
    strata: StrataStatusBody,
    waves: z.array(WaveStatusBody).readonly(),
    waitsFor: WaitsForBody.nullable(),
    blockers: z
      .array(BlockerBody)
      .readonly()
      .meta({ description: 'Why nothing more starts right now; empty when something can.' }),
    verbs: z.array(RolloutVerbName).readonly().meta({ description: 'What an operator can do now.' }),
  })
  .meta({ id: 'RolloutStatus', description: 'A rollout in one glance.' });
export type RolloutStatusBody = z.infer<typeof RolloutStatusBody>;

export const UpgradeBody = z
  .object({
    collectorId: z.number(),
    collectorName: z.string(),
    wave: z.string(),
    stratum: z.string().meta({ description: 'The label of its stratum.' }),
    order: Count.meta({ description: 'Its place among all planned collectors.' }),
    state: UpgradeStateName,
    reason: z.string().nullable(),
    reasonKind: z
      .enum(upgradeReasonKinds)
      .nullable()
      .meta({ description: '`text`: an earlier version wrote the sentence alone.' }),
    fromBuild: z.string(),
    toBuild: z.string().meta({ description: 'In a rollback, the build this one had before.' }),
    attempts: Count.meta({ description: 'Upgrade tasks created so far.' }),
    taskId: z.string().nullable().meta({ description: 'The upgrade task that is watched now.' }),
    startedAt: Instant.nullable().meta({ description: 'When its first upgrade task was created.' }),
    dueAt: Instant.nullable().meta({ description: 'When it is polled next.' }),
    endedAt: Instant.nullable(),
    failureClass: FailureClassName.nullable(),
  })
  .meta({ id: 'Upgrade', description: "One collector's passage through a rollout." });
export type UpgradeBody = z.infer<typeof UpgradeBody>;
