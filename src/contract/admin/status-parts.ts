import { z } from 'zod';
import {
  gateVerdicts,
  leftBehindKinds,
  planExclusions,
  rolloutStates,
  rolloutVerbs,
  stratumReasonKinds,
  upgradeFailureClasses,
  upgradeStates,
  waveStates,
} from '../../base/vocabulary.ts';

// Parts of rollouts in the admin API. The kinds come from `base/vocabulary.ts`, as in the core. The shapes are those of the
// core, which this floor may not import: a test asserts that both agree.

export const UpgradeStateName = z.enum(upgradeStates).meta({
  id: 'UpgradeState',
  description: "State of one collector's passage through a rollout.",
});

export const RolloutStateName = z
  .enum(rolloutStates)
  .meta({ id: 'RolloutState', description: 'State of a rollout.' });

const WaveStateName = z.enum(waveStates).meta({ id: 'WaveState', description: 'State of a wave.' });

export const RolloutVerbName = z
  .enum(rolloutVerbs)
  .meta({ id: 'RolloutVerb', description: 'A verb of an operator for a whole rollout.' });

export const Instant = z.int().meta({ description: 'Milliseconds since the UNIX epoch.' });
export const Count = z.number().int();
export const Counts = z.record(UpgradeStateName, Count).readonly();

export const FailureClassName = z.enum(upgradeFailureClasses).meta({
  id: 'FailureClass',
  description:
    'The kind of failure. `permanent`: retries would not have helped. `retry`: all attempts failed.',
});

export const BuildHoldBody = z
  .object({ build: z.string(), by: z.string(), reason: z.string(), at: Instant })
  .meta({ id: 'BuildHold', description: 'A build that no policy may install.' });

const GateStatusBody = z
  .object({
    name: z.string(),
    verdict: z.enum(gateVerdicts),
    words: z.string().meta({ description: 'The current result: `errors 0.93, expected >= 0.99`.' }),
    value: z
      .number()
      .nullable()
      .meta({ description: 'The last value of a query; null while it is unknown.' }),
    unanswered: Count.meta({ description: 'Failed requests in a row.' }),
    dryRun: z.boolean().meta({ description: 'Shows its value, but decides nothing.' }),
  })
  .meta({ id: 'GateStatus' });

export const WaveStatusBody = z
  .object({
    name: z.string(),
    size: Count.meta({ description: 'Members when it was planned, and late joiners.' }),
    joined: Count.meta({ description: 'Late joiners.' }),
    strata: Count.meta({ description: 'Strata with members in it.' }),
    state: WaveStateName,
    counts: Counts,
    failures: z.number().meta({
      description: 'Weighted failures: a collector that did not come back counts more.',
    }),
    failuresAllowed: z
      .number()
      .meta({ description: 'With more weighted failures than this, the breaker trips.' }),
    lost: Count.meta({ description: 'Collectors that did not come back.' }),
    acknowledged: z.number().meta({
      description: 'Weighted failures that a resume or a release acknowledged. They no longer count.',
    }),
    setAside: Count.meta({ description: 'Members of held strata that wait for a release.' }),
    gates: z.array(GateStatusBody).readonly(),
    openedAt: Instant.nullable(),
    soakEndsAt: Instant.nullable(),
    passedAt: Instant.nullable(),
    waits: z.string().nullable().meta({ description: 'What it waits for; null when it does not wait.' }),
  })
  .meta({ id: 'WaveStatus' });

export const PlanDriftBody = z
  .object({
    from: z.string().meta({ description: 'Hash of the plan before.' }),
    joined: Count,
    left: Count,
    words: z.string(),
  })
  .meta({ id: 'PlanDrift', description: 'How a plan differs from the previous one.' });

export const WindowStatusBody = z
  .object({
    isOpen: z.boolean(),
    until: Instant.nullable().meta({ description: 'When that changes next; null: not within a year.' }),
    reason: z.string(),
    timeZone: z.string(),
    ownZones: z.boolean().meta({ description: "Some windows use each collector's own time zone." }),
  })
  .meta({ id: 'WindowStatus' });

export const StrataStatusBody = z
  .object({
    total: Count,
    held: z
      .array(
        z.object({
          label: z.string().meta({ description: '`Linux / amd64 / 19.441-2`' }),
          kind: z.enum(stratumReasonKinds),
          reason: z.string(),
          by: z.string(),
          at: Instant,
          waiting: Count.meta({ description: 'Its collectors that wait for a release.' }),
        }),
      )
      .readonly(),
    uncovered: z
      .object({ count: Count, labels: z.array(z.string()).readonly() })
      .meta({ description: 'Strata without members in any wave before the last, with some labels.' }),
  })
  .meta({ id: 'StrataStatus' });

export const LeftOutBody = z
  .object({
    kind: z.enum([...planExclusions, 'leftFleet']),
    reason: z.string().meta({ description: 'The same for people.' }),
    count: Count,
  })
  .meta({ id: 'LeftOut', description: 'Collectors that a plan leaves out, for one reason.' });

export const LeftBehindBody = z
  .object({
    kind: z.enum(leftBehindKinds),
    reason: z.string().meta({ description: 'The same for people.' }),
    count: Count,
    names: z.array(z.string()).readonly().meta({ description: 'Of some: `web-1 (had 19.441-2)`.' }),
  })
  .meta({ id: 'LeftBehind', description: 'Collectors that a rollback does not roll back, for one reason.' });
