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

const OthersCount = Count.meta({ description: 'Those not in any listed one.' });

const CauseBody = z
  .object({
    kind: z
      .enum(['failed', 'timedOut', 'unconfirmed', 'retrying', 'notAlive', 'inUpgrade', 'withdrawn'])
      .meta({ description: '`notAlive` and `inUpgrade`: why an upgrade is deferred.' }),
    failureClass: FailureClassName.nullable().meta({
      description: 'The class of a failure; null otherwise.',
    }),
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
      causes: Count.meta({ description: 'How many causes these have, as far as they were read.' }),
      unread: Count.meta({ description: 'How many of these were not read: only the latest are.' }),
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
    detail: z.string().nullable().meta({ description: 'The last failure; null for a pause.' }),
    since: Instant.nullable().meta({ description: 'When the outage began; null for a pause.' }),
    until: Instant.nullable().meta({
      description: 'When the pause ends, or the next attempt is due; null: an attempt is in flight.',
    }),
  })
  .meta({ id: 'Outage', description: 'Why no requests are being sent.' });

const ApiBudgetStatusBody = z
  .object({
    requestsPerSecond: z.number().meta({ description: 'Requests sent, averaged over the last minute.' }),
    requestsPerSecondNow: z.number().meta({
      description: 'The rate that may be used now. It is below the maximum for some minutes after each 429.',
    }),
    requestsPerSecondMax: z.number().meta({ description: 'The configured rate.' }),
    rateLimited: Count.meta({ description: '429s in the last hour; simultaneous ones count as one.' }),
    outage: OutageBody.nullable(),
  })
  .meta({
    id: 'ApiBudgetStatus',
    description: 'The API budget of all daemons with the access key.',
  });

const HeadlineBody = z
  .object({
    kind: z.enum(headlineKinds),
    needsPerson: z.boolean().meta({ description: 'True when it does not continue until a person acts.' }),
  })
  .meta({ id: 'Headline', description: 'The state of a rollout for people, in one kind.' });

const WaitsForBody = z
  .object({
    kind: z.enum(['window', 'collectors', 'inventory']).meta({
      description:
        '`window`: all remaining upgrades wait for an open window. `collectors`: only deferred collectors remain. `inventory`: the inventory is implausible, and is read again.',
    }),
    until: Instant.nullable().meta({ description: 'Null: unknown.' }),
  })
  .meta({
    id: 'WaitsFor',
    description: 'What a running rollout waits for while nothing is in flight.',
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
      description: 'The share of planned collectors that have them. Absent: unknown.',
    }),
  })
  .meta({ id: 'SharedAttribute', description: 'What the failures have in common.' });

const EtaFigures = {
  plusMinusMs: z.number().meta({ description: 'Half the width of the expected range.' }),
  requests: Count,
};
const EtaBody = z
  .discriminatedUnion('kind', [
    z
      .object({ kind: z.literal('at'), at: Instant, ...EtaFigures })
      .meta({ description: 'Includes known pauses.' }),
    z
      .object({
        kind: z.literal('afterApproval'),
        approvalAt: Instant.nullable().meta({
          description: 'When the rollout is expected to wait for the approval; null: it waits now.',
        }),
        durationMs: z.number().meta({ description: 'From the approval to the end.' }),
        ...EtaFigures,
      })
      .meta({ description: 'The end depends on a person, so there is no instant.' }),
    z
      .object({ kind: z.literal('atTheLatest'), at: Instant })
      .meta({ description: 'Only deferred collectors remain. The last of them is withdrawn then.' }),
    z.object({
      kind: z.literal('unknown'),
      reason: z.enum(etaUnknownReasons),
    }),
  ])
  .meta({ id: 'Eta', description: 'When a rollout is expected to end.' });

const HeldForBody = z
  .object({
    kind: z
      .enum(['evidence'])
      .meta({ description: 'No collector of the wave is upgraded, and none can be upgraded now.' }),
    wave: Count.meta({ description: 'Index of the wave in the plan.' }),
  })
  .meta({ id: 'HeldFor', description: 'What a held rollout waits for.' });

const BlockerBody = z
  .object({
    kind: z.enum(blockerKinds),
    reason: z.string().meta({ description: 'The same for people, with figures.' }),
    until: Instant.nullable().meta({ description: 'When it may end by itself, if known.' }),
  })
  .meta({ id: 'Blocker', description: 'Why nothing more starts right now.' });

export const RolloutStatusBody = z
  .object({
    id: z.string(),
    kind: z.enum(['upgrade', 'rollback']),
    rollbackOf: z.string().nullable().meta({ description: 'For a rollback: the original rollout.' }),
    rollbackId: z.string().nullable().meta({ description: 'Its rollback, once that has started.' }),
    policy: z.string(),
    headline: HeadlineBody,
    state: RolloutStateName,
    reason: z.string(),
    reasonKind: z.enum(rolloutReasonKinds),
    hold: z.int().nullable().meta({
      description: 'The number of the current hold or pause, which `resume` names; null without one.',
    }),
    heldFor: HeldForBody.nullable().meta({
      description: 'Set while a hold ends by itself when this occurs. A pause clears it.',
    }),
    account: z.enum(['own', 'unknown', 'another', 'unclear']).meta({
      description:
        "Whether it belongs to this daemon's account. The daemon works on its `own` rollouts only. `unknown`: it is being checked.",
    }),
    recordUnreadable: z.enum(['corrupt', 'newer']).nullable().meta({
      description:
        'Why its record in Redis is unreadable. The status then shows only what other records hold. `newer`: a newer upwave wrote it, and this daemon leaves it alone.',
    }),
    targetBuild: z.string(),
    backTo: z
      .array(z.string())
      .readonly()
      .meta({ description: 'For a rollback: the builds it goes back to, most frequent first.' }),
    leftBehind: z.array(LeftBehindBody).readonly().meta({
      description:
        'Collectors that a rollback does not roll back, and why. Also shown for the original rollout.',
    }),
    fromBuilds: z.array(z.string()).readonly(),
    planHash: z.string(),
    drift: PlanDriftBody.nullable().meta({
      description: 'While the plan waits for approval: how the fleet has changed since the previous plan.',
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
      description: 'Null: nothing beyond chance.',
    }),
    leftOut: z.array(LeftOutBody).readonly(),
    inFlight: Count,
    concurrency: Count,
    lostWeight: z
      .number()
      .meta({ description: 'How many failures a collector counts as when it did not come back.' }),
    eta: EtaBody.nullable().meta({ description: 'When it is expected to end; null once it has.' }),
    api: ApiBudgetStatusBody.nullable().meta({
      description: 'The budget that all rollouts share; null for one that has ended.',
    }),
    window: WindowStatusBody.nullable().meta({
      description: "In the policy's time zone; null when upgrades may start at any time.",
    }),
    buildHold: BuildHoldBody.nullable().meta({ description: 'Set while the target build is held.' }),
    strata: StrataStatusBody,
    waves: z.array(WaveStatusBody).readonly(),
    waitsFor: WaitsForBody.nullable(),
    blockers: z
      .array(BlockerBody)
      .readonly()
      .meta({ description: 'Why nothing more starts now; empty when an upgrade can start.' }),
    verbs: z.array(RolloutVerbName).readonly().meta({ description: 'Verbs that are allowed now.' }),
  })
  .meta({ id: 'RolloutStatus', description: 'The status of a rollout.' });
export type RolloutStatusBody = z.infer<typeof RolloutStatusBody>;

export const UpgradeBody = z
  .object({
    collectorId: z.number(),
    collectorName: z.string(),
    wave: z.string(),
    stratum: z.string().meta({ description: 'The label of its stratum.' }),
    order: Count.meta({ description: 'Its position among all planned collectors.' }),
    state: UpgradeStateName,
    reason: z.string().nullable(),
    reasonKind: z.enum(upgradeReasonKinds).nullable(),
    fromBuild: z.string(),
    toBuild: z.string().meta({ description: 'In a rollback, the build this one had before.' }),
    attempts: Count.meta({ description: 'Upgrade tasks created so far.' }),
    taskId: z.string().nullable().meta({ description: 'The current upgrade task.' }),
    startedAt: Instant.nullable().meta({ description: 'When its first upgrade task was created.' }),
    dueAt: Instant.nullable().meta({ description: 'When it is polled next.' }),
    endedAt: Instant.nullable(),
    failureClass: FailureClassName.nullable(),
  })
  .meta({ id: 'Upgrade', description: "One collector's passage through a rollout." });
export type UpgradeBody = z.infer<typeof UpgradeBody>;
