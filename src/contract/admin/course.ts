import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { GateExpectation, GateSampleVerdict, RolloutNight } from './night.ts';
import { rolloutId } from './rollouts.ts';
import { Count, Instant, listOf, namedObject, rowsOf } from './status-parts.ts';

const RolloutCourse = namedObject('RolloutCourse', 'The course of a rollout so far.', {
  burnUp: z
    .object({
      points: rowsOf({ at: Instant, succeeded: Count, failed: Count, inFlight: Count }).describe(
        'Oldest first; 120 at most.',
      ),
      isWhole: z.boolean().describe('False: the earliest events are no longer kept.'),
    })
    .describe('How many succeeded, failed and were in flight, over time.'),
  builds: z
    .object({
      builds: listOf(z.string()).describe('The target first, then the builds that it replaces.'),
      points: rowsOf({ at: Instant, counts: listOf(Count) }).describe(
        'A count for each build. Oldest first; 120 at most.',
      ),
    })
    .nullable()
    .describe('Planned collectors by build, over time. Null: unknown.'),
  eventCounts: rowsOf({ event: z.string(), count: Count }).describe(
    'Kept events by name, the most frequent first.',
  ),
  strata: rowsOf({
    label: z.string(),
    size: Count,
    succeeded: Count,
    failed: Count,
    active: Count,
    waiting: Count,
    isHeld: z.boolean(),
  }).describe('The most failures first; 200 at most.'),
  strataTotal: Count,
  night: RolloutNight,
  gates: rowsOf({
    wave: z.string(),
    name: z.string(),
    expect: GateExpectation.nullable().describe('The condition for the values. Null: the gate has no value.'),
    samples: rowsOf({
      at: Instant,
      verdict: GateSampleVerdict,
      value: z.number().nullable(),
    }).describe('Oldest first; 60 at most.'),
  }).describe('Results of the gates over time.'),
});
export type RolloutCourse = z.infer<typeof RolloutCourse>;

export const getRolloutCourse = defineOperation({
  name: 'getRolloutCourse',
  summary: 'Show the course of a rollout so far',
  route: 'GET /rollouts/{id}/course',
  params: rolloutId,
  answer: { status: 200, body: RolloutCourse },
  errors: ['notFound', 'unavailable'],
  source: 'DESIGN §5, HTTP: figures over time and by stratum, from events and counters',
});
