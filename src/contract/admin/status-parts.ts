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

// What our own API shows of rollouts. The kinds are those of `base/vocabulary.ts`, which the core has, too. The shapes are
// those of the core, which this floor may not import: a test asserts that both agree.

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
  .meta({ id: 'RolloutVerb', description: 'What an operator may ask of a rollout as a whole.' });

export const Instant = z.int().meta({ description: 'Milliseconds since the UNIX epoch.' });
export const Count = z.number().int();
export const Counts = z.record(UpgradeStateName, Count).readonly();

export const FailureClassName = z.enum(upgradeFailureClasses).meta({
  id: 'FailureClass',
  description:
    'What kind of failure: `permanent` ones would not have been helped by waiting, `retry` ones spent their attempts.',
});

export const BuildHoldBody = z
  .object({ build: z.string(), by: z.string(), reason: z.string(), at: Instant })
  .meta({ id: 'BuildHold', description: 'A build that may not be installed, under any policy.' });

const GateStatusBody = z
  .object({
    name: z.string(),
    verdict: z.enum(gateVerdicts),
    words: z.string().meta({ description: 'How it stands: `errors 0.93, expected >= 0.99`.' }),
    value: z
      .number()
      .nullable()
      .meta({ description: 'The last value of a query; null while none is known.' }),
    unanswered: Count.meta({ description: 'How often in a row it was asked and gave no answer.' }),
    dryRun: z.boolean().meta({ description: 'Shows its value, and decides nothing.' }),
  })
  .meta({ id: 'GateStatus' });

export const WaveStatusBody = z
  .object({
    name: z.string(),
    size: Count.meta({ description: 'Members when it was planned, and late joiners.' }),
    joined: Count.meta({ description: 'Late joiners: they came after the plan was made.' }),
    strata: Count.meta({ description: 'Strata with members in it.' }),
    state: WaveStateName,
    counts: Counts,
    failures: z.number().meta({
      description: 'Failures that count, weighted: a collector that did not come back counts more.',
    }),
    failuresAllowed: z
      .number()
      .meta({ description: 'With more weighted failures than this, the wave trips.' }),
    lost: Count.meta({ description: 'Collectors that did not come back.' }),
    acknowledged: z.number().meta({
      description: 'Weighted failures that a resume or a release has acknowledged: they no longer count.',
    }),
    setAside: Count.meta({ description: 'Members of held strata that wait until they are released.' }),
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
  .meta({ id: 'PlanDrift', description: 'How a plan differs from the one that was shown before it.' });

export const WindowStatusBody = z
  .object({
    isOpen: z.boolean(),
    until: Instant.nullable().meta({ description: 'When that changes next; null: not in a year.' }),
    reason: z.string(),
    timeZone: z.string(),
    ownZones: z.boolean().meta({ description: "Some windows go by each collector's own time zone." }),
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
          waiting: Count.meta({ description: 'Its collectors that wait until it is released.' }),
        }),
      )
      .readonly(),
    uncovered: z
      .object({ count: Count, labels: z.array(z.string()).readonly() })
      .meta({ description: 'Strata that no wave before the last covers, and the labels of some.' }),
  })
  .meta({ id: 'StrataStatus' });

export const LeftOutBody = z
  .object({
    kind: z.enum([...planExclusions, 'leftFleet', 'text']),
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
  .meta({ id: 'LeftBehind', description: 'Collectors that a rollback does not take back, for one reason.' });
