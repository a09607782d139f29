import { z } from 'zod';

/**
 * What our own API tells about rollouts. The shapes are those of the core; this floor may not import it, so they are
 * written down again here, and a test asserts that both agree.
 */
export const upgradeStateNames = [
  'pending',
  'queued',
  'starting',
  'upgrading',
  'verifying',
  'retrying',
  'deferred',
  'succeeded',
  'failed',
  'timedOut',
  'unconfirmed',
  'withdrawn',
  'rolledBack',
] as const;
export const UpgradeStateName = z.enum(upgradeStateNames).meta({
  id: 'UpgradeState',
  description: "State of one collector's passage through a rollout.",
});

export const RolloutStateName = z
  .enum([
    'planned',
    'awaitingApproval',
    'running',
    'held',
    'paused',
    'rollingBack',
    'succeeded',
    'finishedWithFailures',
    'aborted',
    'rolledBack',
    'superseded',
  ])
  .meta({ id: 'RolloutState', description: 'State of a rollout.' });

export const WaveStateName = z
  .enum(['waiting', 'awaitingApproval', 'open', 'soaking', 'passed', 'held'])
  .meta({ id: 'WaveState', description: 'State of a wave.' });

const Instant = z.number().meta({ description: 'Milliseconds since the UNIX epoch.' });
const Count = z.number().int();
const Counts = z.record(UpgradeStateName, Count).readonly();

const WaveStatusBody = z
  .object({
    name: z.string(),
    size: Count,
    state: WaveStateName,
    counts: Counts,
    failures: z.number().meta({ description: 'Weighted: a collector that did not come back counts more.' }),
    failuresAllowed: z
      .number()
      .meta({ description: 'With more weighted failures than this, the wave trips.' }),
    lost: Count,
    openedAt: Instant.nullable(),
    soakEndsAt: Instant.nullable(),
    passedAt: Instant.nullable(),
    waits: z.string().nullable().meta({ description: 'What it waits for; null when it does not wait.' }),
  })
  .meta({ id: 'WaveStatus' });

export const RolloutStatusBody = z
  .object({
    id: z.string(),
    policy: z.string(),
    state: RolloutStateName,
    reason: z.string(),
    targetBuild: z.string(),
    fromBuilds: z.array(z.string()).readonly(),
    planHash: z.string(),
    startedBy: z.string(),
    createdAt: Instant,
    endedAt: Instant.nullable(),
    planned: Count,
    counts: Counts,
    leftOut: z.record(z.string(), Count).readonly(),
    inFlight: Count,
    concurrency: Count,
    eta: z.object({ at: Instant, plusMinusMs: z.number() }).nullable(),
    waves: z.array(WaveStatusBody).readonly(),
    holds: z
      .array(z.object({ reason: z.string(), until: Instant.nullable() }))
      .readonly()
      .meta({ description: 'Why nothing more starts right now; empty when something can.' }),
  })
  .meta({ id: 'RolloutStatus', description: 'A rollout in one glance.' });
export type RolloutStatusBody = z.infer<typeof RolloutStatusBody>;

export const RolloutEventBody = z
  .object({
    at: Instant,
    event: z.string().meta({ description: 'Dotted, past tense: `upgrade.succeeded`.' }),
    policy: z.string(),
    rollout: z.string(),
    reason: z.string(),
    by: z.string().meta({ description: '`daemon`, `schedule`, or an operator.' }),
    wave: z.string().exactOptional(),
    collectorId: z.number().exactOptional(),
    collectorName: z.string().exactOptional(),
    taskId: z.string().exactOptional(),
    attempt: Count.exactOptional(),
    durationMs: z.number().exactOptional(),
    seenDelayMs: z.number().exactOptional(),
    failureClass: z.string().exactOptional(),
  })
  .meta({ id: 'RolloutEvent', description: 'One thing that happened: who, what, why, when.' });
export type RolloutEventBody = z.infer<typeof RolloutEventBody>;

export const UpgradeBody = z
  .object({
    collectorId: z.number(),
    collectorName: z.string(),
    wave: z.string(),
    order: Count.meta({ description: 'Its place among all planned collectors.' }),
    state: UpgradeStateName,
    reason: z.string().nullable(),
    fromBuild: z.string(),
    attempts: Count.meta({ description: 'Upgrade tasks created so far.' }),
    taskId: z.string().nullable().meta({ description: 'The upgrade task that is watched now.' }),
    startedAt: Instant.nullable().meta({ description: 'When its first upgrade task was created.' }),
    dueAt: Instant.nullable().meta({ description: 'When it is looked at next.' }),
    endedAt: Instant.nullable(),
  })
  .meta({ id: 'Upgrade', description: "One collector's passage through a rollout." });
export type UpgradeBody = z.infer<typeof UpgradeBody>;
