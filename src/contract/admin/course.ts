import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { Instant } from './rollout-status.ts';
import { rolloutId } from './rollouts.ts';

const Count = z.number().int();

const RolloutCourseBody = z
  .object({
    burnUp: z
      .object({
        points: z
          .array(z.object({ at: Instant, succeeded: Count, failed: Count, inFlight: Count }))
          .readonly()
          .meta({ description: 'Oldest first; 120 at most.' }),
        isWhole: z.boolean().meta({ description: 'False: the earliest events are no longer kept.' }),
      })
      .meta({ description: 'How many succeeded, failed and were in flight, over time.' }),
    eventCounts: z
      .array(z.object({ event: z.string(), count: Count }))
      .readonly()
      .meta({ description: 'Kept events by name, the most frequent first.' }),
    strata: z
      .array(
        z.object({
          label: z.string(),
          size: Count,
          succeeded: Count,
          failed: Count,
          active: Count,
          waiting: Count,
          isHeld: z.boolean(),
        }),
      )
      .readonly()
      .meta({ description: 'The most failures first; 200 at most.' }),
    strataTotal: Count,
    closed: z
      .array(z.object({ from: Instant, to: Instant, kind: z.enum(['window', 'freeze']), reason: z.string() }))
      .readonly()
      .meta({
        description:
          "When no upgrade may start, until tomorrow, by the policy's own time zone. `window`: none is open.",
      }),
  })
  .meta({ id: 'RolloutCourse', description: 'How a rollout went so far.' });

export const getRolloutCourse = defineOperation({
  name: 'getRolloutCourse',
  summary: 'Show how a rollout went so far',
  method: 'GET',
  path: '/rollouts/{id}/course',
  params: rolloutId,
  answer: { status: 200, body: RolloutCourseBody },
  errors: ['notFound', 'unavailable'],
  idempotent: true,
  source: 'DESIGN §5, HTTP: figures over time and by stratum, from events and counters',
});
