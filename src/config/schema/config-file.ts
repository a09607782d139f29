import { z } from 'zod';
import { HttpSchema } from './http-schema.ts';
import { PolicySchema } from './policy-schema.ts';
import { RedisSchema } from './redis-schema.ts';
import { ServiceSchema } from './service-schema.ts';
import { duration, reportRepeatedNames, shortName } from './value-schemas.ts';

const Rollouts = z
  .array(PolicySchema)
  .min(1, 'is an empty list; give at least one policy, such as "- name: all"')
  .max(100)
  .check(
    z.superRefine<unknown>(
      (rollouts, context) => {
        if (!Array.isArray(rollouts)) return;
        reportRepeatedNames(rollouts, 'rollout', (message, path) =>
          context.addIssue({ code: 'custom', message, path }),
        );
      },
      { when: () => true },
    ),
  )
  .describe('The policies: which collectors to upgrade, to which build, how carefully.');

/** The whole file, its keys and their defaults (DESIGN §4). */
export const ConfigFile = z
  .strictObject({
    service: ServiceSchema,
    redis: RedisSchema.exactOptional(),
    http: HttpSchema.prefault({}),
    installation: shortName()
      .exactOptional()
      .describe(
        'The name of this installation: the label `installation` on every metric, so that one Prometheus can watch several. All daemons on one Redis need the same name.',
      ),
    log: z
      .strictObject({
        level: z
          .enum(['debug', 'info', 'warn', 'error', 'silent'])
          .default('info')
          .describe('The least important lines that are written.'),
      })
      .prefault({})
      .describe('The log.'),
    history: duration('1d')
      .prefault('90d')
      .describe(
        'How long an ended rollout is kept, with the outcome of each collector. A change counts for rollouts that end after it.',
      ),
    rollouts: Rollouts,
  })
  .describe("upwave's configuration.");
export type ConfigFile = z.output<typeof ConfigFile>;
