import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { rolloutId } from './rollouts.ts';
import { Instant } from './status-parts.ts';

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
    builds: z
      .object({
        builds: z
          .array(z.string())
          .readonly()
          .meta({ description: 'The target first, then the builds that it replaces.' }),
        points: z
          .array(z.object({ at: Instant, counts: z.array(Count).readonly() }))
          .readonly()
          .meta({ description: 'A count for each build. Oldest first; 120 at most.' }),
      })
      .nullable()
      .meta({ description: 'Planned collectors by build, over time. Null: unknown.' }),
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
          "When no upgrade may start until tomorrow, in the policy's time zone. `window`: no window is open.",
      }),
    gates: z
      .array(
        z.object({
          wave: z.string(),
          name: z.string(),
          expect: z
            .object({ operator: z.enum(['>=', '>', '<=', '<', '==', '!=']), value: z.number() })
            .nullable()
            .meta({ description: 'The condition for the values. Null: the gate has no value.' }),
          samples: z
            .array(
              z.object({
                at: Instant,
                verdict: z.enum(['met', 'missed', 'hold', 'error']),
                value: z.number().nullable(),
              }),
            )
            .readonly()
            .meta({ description: 'Oldest first; 60 at most.' }),
        }),
      )
      .readonly()
      .meta({ description: 'Results of the gates over time.' }),
  })
  .meta({ id: 'RolloutCourse', description: 'The course of a rollout so far.' });

export const getRolloutCourse = defineOperation({
  name: 'getRolloutCourse',
  summary: 'Show the course of a rollout so far',
  method: 'GET',
  path: '/rollouts/{id}/course',
  params: rolloutId,
  answer: { status: 200, body: RolloutCourseBody },
  errors: ['notFound', 'unavailable'],
  source: 'DESIGN §5, HTTP: figures over time and by stratum, from events and counters',
});
