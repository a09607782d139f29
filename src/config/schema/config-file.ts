import { z } from 'zod';
import { HttpSchema } from './http-schema.ts';
import { NotifySchema } from './notify-schema.ts';
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
  .describe('The policies. Which collectors to upgrade, to which build, and how carefully.');

/** The whole file, its keys and their defaults (DESIGN §4). */
export const ConfigFile = z
  .strictObject({
    service: ServiceSchema,
    redis: RedisSchema.exactOptional(),
    http: HttpSchema.prefault({}),
    installation: shortName()
      .exactOptional()
      .describe(
        'The name of this installation, a label on every metric and a part of every message. One Prometheus can watch several installations. All daemons on one Redis need the same name.',
      ),
    log: z
      .strictObject({
        level: z
          .enum(['debug', 'info', 'warn', 'error', 'silent'])
          .default('info')
          .describe('The lowest level of lines that are written.'),
      })
      .prefault({})
      .describe('The log.'),
    history: duration('1d')
      .prefault('90d')
      .describe(
        'How long an ended rollout is kept, with the outcome of each collector. A change applies to rollouts that end later.',
      ),
    notify: NotifySchema,
    rollouts: Rollouts,
  })
  .describe("upwave's configuration.");
export type ConfigFile = z.output<typeof ConfigFile>;
