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

// Parts of rollouts in the admin API. The kinds come from `base/vocabulary.ts`, as in the core. The core and the operations
// infer the types of what they show from these schemas.

/** An object with a name and a description in the API's document. */
export function namedObject<Shape extends z.ZodRawShape>(id: string, description: string, shape: Shape) {
  return z.object(shape).meta({ id, description });
}

export function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(item).readonly();
}

/** A list of objects. */
export function rowsOf<Shape extends z.ZodRawShape>(shape: Shape) {
  return listOf(z.object(shape));
}

export const UpgradeStateName = z.enum(upgradeStates).meta({
  id: 'UpgradeState',
  description: "State of one collector's passage through a rollout.",
});

export const RolloutStateName = z
  .enum(rolloutStates)
  .meta({ id: 'RolloutState', description: 'State of a rollout.' });

export const WaveStateName = z.enum(waveStates).meta({ id: 'WaveState', description: 'State of a wave.' });

export const RolloutVerbName = z
  .enum(rolloutVerbs)
  .meta({ id: 'RolloutVerb', description: 'A verb of an operator for a whole rollout.' });

export const Instant = z.int().describe('Milliseconds since the UNIX epoch.');
export const Count = z.number().int();
export const Counts = z.record(UpgradeStateName, Count).readonly();

export const FailureClassName = z.enum(upgradeFailureClasses).meta({
  id: 'FailureClass',
  description:
    'The kind of failure. `permanent`: retries would not have helped. `retry`: all attempts failed.',
});

export const ExpectedFailures = namedObject(
  'ExpectedFailures',
  'How many collectors of a plan are expected to fail, from what builds did in ended rollouts.',
  {
    tried: Count.describe('The upgrades of ended rollouts behind these figures.'),
    failures: z.number(),
    waves: rowsOf({
      name: z.string(),
      failures: z.number(),
      allowed: Count.describe('More failures hold the wave.'),
    }),
    riskiest: rowsOf({
      label: z.string(),
      tried: Count,
      failed: Count,
      isTriedFirst: z.boolean().describe('The first wave has a member of it.'),
    }).describe('Strata and groups of the plan in which most failed before, at most 3.'),
  },
);
export type ExpectedFailures = z.infer<typeof ExpectedFailures>;

export const WorkEstimate = namedObject('WorkEstimate', 'How long upgrades take that have not started.', {
  durationMs: z.number().nullable().describe('From now; null: the windows are too short.'),
  plusMinusMs: z.number().describe('Half the width of the expected range.'),
  requests: z.number().int().min(0),
});
export type WorkEstimate = z.infer<typeof WorkEstimate>;

export const BuildHold = namedObject('BuildHold', 'A build that no policy may install.', {
  build: z.string(),
  accountName: z
    .string()
    .exactOptional()
    .describe('The account whose policies may not; absent: those of all accounts.'),
  by: z.string(),
  reason: z.string(),
  at: Instant,
});
export type BuildHold = z.infer<typeof BuildHold>;

const GateStatus = z
  .object({
    name: z.string(),
    verdict: z.enum(gateVerdicts),
    words: z.string().describe('The current result: `errors 0.93, expected >= 0.99`.'),
    value: z.number().nullable().describe('The last value of a query; null while it is unknown.'),
    unanswered: Count.describe('Failed requests in a row.'),
    dryRun: z.boolean().describe('Shows its value, but decides nothing.'),
  })
  .meta({ id: 'GateStatus' });
export type GateStatus = z.infer<typeof GateStatus>;

export const WaveStatus = z
  .object({
    name: z.string(),
    size: Count.describe('Members when it was planned, and late joiners.'),
    joined: Count.describe('Late joiners.'),
    strata: Count.describe('Strata with members in it.'),
    state: WaveStateName,
    counts: Counts,
    failures: z.number().describe('Weighted failures: a collector that did not come back counts more.'),
    failuresAllowed: z.number().describe('With more weighted failures than this, the breaker trips.'),
    lost: Count.describe('Collectors that did not come back.'),
    acknowledged: z
      .number()
      .describe('Weighted failures that a resume or a release acknowledged. They no longer count.'),
    setAside: Count.describe('Members of held strata that wait for a release.'),
    gates: listOf(GateStatus),
    openedAt: Instant.nullable(),
    soakEndsAt: Instant.nullable(),
    passedAt: Instant.nullable(),
    expected: z
      .object({ from: Instant, to: Instant })
      .nullable()
      .describe(
        'Estimated begin and end of what remains of it; null: passed, unknown, or after an approval.',
      ),
    waits: z.string().nullable().describe('What it waits for; null when it does not wait.'),
  })
  .meta({ id: 'WaveStatus' });
export type WaveStatus = z.infer<typeof WaveStatus>;

export const DriftStatus = namedObject('PlanDrift', 'How a plan differs from the previous one.', {
  from: z.string().describe('Hash of the plan before.'),
  joined: Count,
  left: Count,
  words: z.string(),
});
export type DriftStatus = z.infer<typeof DriftStatus>;

export const WindowStatus = z
  .object({
    isOpen: z.boolean(),
    until: Instant.nullable().describe('When that changes next; null: not within a year.'),
    reason: z.string(),
    timeZone: z.string(),
    ownZones: z.boolean().describe("Some windows use each collector's own time zone."),
  })
  .meta({ id: 'WindowStatus' });
export type WindowStatus = z.infer<typeof WindowStatus>;

export const StrataStatus = z
  .object({
    total: Count,
    held: rowsOf({
      label: z.string().describe('`Linux / amd64 / 19.441-2`'),
      kind: z.enum(stratumReasonKinds),
      reason: z.string(),
      by: z.string(),
      at: Instant,
      waiting: Count.describe('Its collectors that wait for a release.'),
      failed: Count.exactOptional().describe(
        'Its collectors that failed. After a retry they wait for the release too. Absent: none.',
      ),
      tookOver: rowsOf({
        label: z.string(),
        at: Instant.describe('When it was held.'),
        remaining: Count.describe('Collectors that remained in it, waiting to start.'),
      })
        .exactOptional()
        .describe(
          'For a group: the strata that the daemon had held until the group took their failed collectors. Absent: none.',
        ),
    }),
    uncovered: z
      .object({ count: Count, labels: listOf(z.string()) })
      .describe('Strata without members in any wave before the last, with some labels.'),
  })
  .meta({ id: 'StrataStatus' });
export type StrataStatus = z.infer<typeof StrataStatus>;

export const ShownLeftOut = namedObject('LeftOut', 'Collectors that a plan leaves out, for one reason.', {
  kind: z.enum([...planExclusions, 'leftFleet']),
  reason: z.string().describe('The same for people.'),
  count: Count,
});
export type ShownLeftOut = z.infer<typeof ShownLeftOut>;

export const ShownLeftBehind = namedObject(
  'LeftBehind',
  'Collectors that a rollback does not roll back, for one reason.',
  {
    kind: z.enum(leftBehindKinds),
    reason: z.string().describe('The same for people.'),
    count: Count,
    names: listOf(z.string()).describe('Of some: `web-1 (had 19.441-2)`.'),
  },
);
export type ShownLeftBehind = z.infer<typeof ShownLeftBehind>;
