import { z } from 'zod';
import { reportFormats } from '../../rollout/report/write-report.ts';
import { AccountsSchema, reportAccounts } from './accounts-schema.ts';
import { HttpSchema } from './http-schema.ts';
import { NotifySchema } from './notify-schema.ts';
import { PolicySchema } from './policy-schema.ts';
import { RedisSchema } from './redis-schema.ts';
import { ServiceSchema } from './service-schema.ts';
import { durationSchema, filePath, shortName, uniqueNames, wholeCheck } from './value-schemas.ts';

const Rollouts = z
  .array(PolicySchema)
  .min(1, 'is an empty list; give at least one policy, such as "- name: all"')
  .max(100)
  .check(uniqueNames('rollout'))
  .describe('The policies. Which collectors to upgrade, to which build, and how carefully.');

/** The whole file, its keys and their defaults (DESIGN §4). */
export const ConfigFile = z
  .strictObject({
    service: ServiceSchema.exactOptional(),
    accounts: AccountsSchema.exactOptional(),
    learnFrom: z
      .enum(['accounts'])
      .exactOptional()
      .describe(
        '`accounts`: a build that is held in one account is held in all of them, until its release. Without it, each account finds out by its own canary.',
      ),
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
    // A quarter, so that two releases can be compared.
    history: durationSchema('1d')
      .prefault('90d')
      .describe(
        'How long an ended rollout is kept, with the outcome of each collector. A change applies to rollouts that end later.',
      ),
    notify: NotifySchema,
    report: z
      .strictObject({
        directory: filePath().describe(
          'The directory. upwave creates it where it is missing. Relative to the config file.',
        ),
        formats: z
          .array(z.enum(reportFormats))
          .min(1, 'is an empty list; remove the key for both formats')
          .max(reportFormats.length)
          .default([...reportFormats])
          .describe('The formats: a self-contained HTML file, and Markdown.'),
      })
      .exactOptional()
      .describe(
        'A directory for the reports of ended rollouts. The leading daemon writes a report when a rollout has ended.',
      ),
    rollouts: Rollouts,
  })
  .check(wholeCheck(reportAccounts))
  .describe("upwave's configuration.");
export type ConfigFile = z.output<typeof ConfigFile>;
