import { z } from 'zod';
import type { TargetRule } from '../../rollout/model/policy.ts';
import { quote } from '../source/config-error.ts';
import { durationSchema, wholeCheck } from './value-schemas.ts';

/** The target build. */
export const TargetSchema = z
  .strictObject({
    version: z
      .string({
        error: (issue) =>
          typeof issue.input === 'number'
            ? 'must be text; put the build in quotes, such as "19.455-2"'
            : undefined,
      })
      .regex(/^(latest|\d{1,9}\.\d{1,9}-\d{1,9})$/, {
        error: (issue) =>
          `${quote(String(issue.input))} is not a build; write latest, or a build such as 19.455-2`,
      })
      .default('latest')
      .describe('The build to upgrade to: latest, or a build such as 19.455-2.'),
    minimumAge: durationSchema('0s')
      .prefault('0s')
      .describe('With latest: how long ago a build must have been available first.'),
    supersede: z
      .boolean()
      .default(false)
      .describe(
        'With latest: whether a newer build ends a running rollout. The next rollout then installs it.',
      ),
    allowDowngrade: z
      .boolean()
      .default(false)
      .describe('Whether collectors above the target are downgraded to it.'),
  })
  .check(
    wholeCheck(({ version, minimumAge, supersede }, report) => {
      if (typeof version !== 'string' || !/^\d/.test(version)) return;
      if (typeof minimumAge === 'number' && minimumAge > 0)
        report('is for latest only, and version names one build; remove it', ['minimumAge']);
      if (supersede === true)
        report('is for latest only, and version names one build; remove it', ['supersede']);
    }),
  )
  .transform(({ minimumAge, ...rule }): TargetRule => ({ ...rule, minimumAgeMs: minimumAge }))
  .describe('The build to upgrade to.');
