import { z } from 'zod';
import { formatDuration } from '../base/duration.ts';
import type { Policy } from '../rollout/policy.ts';
import { quote } from './config-error.ts';
import { isCronExpression } from './cron.ts';
import { nearestOf } from './explain-issue.ts';
import { SelectionSchema } from './selection-schema.ts';
import { duration, shortName, wholeCheck } from './value-schemas.ts';
import { WavesSchema } from './waves-schema.ts';

const Target = z
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
          `${quote(String(issue.input))} is no build; write latest, or a build such as 19.455-2`,
      })
      .default('latest')
      .describe('The build to upgrade to: latest, or one such as 19.455-2.'),
    allowDowngrade: z
      .boolean()
      .default(false)
      .describe('Whether collectors above the target are taken back to it.'),
  })
  .describe('To which build.');

const Schedule = z.string().refine(isCronExpression, {
  error: (issue) =>
    `${quote(String(issue.input))} is no cron expression that comes due; write five fields, or six with seconds first, such as "*/15 * * * *"`,
});

const TimeZone = z.string().superRefine((text, context) => {
  if (isTimeZone(text)) return;
  const nearest = nearestOf(text, Intl.supportedValuesOf('timeZone'));
  const hint = nearest === undefined ? 'write one such as Europe/Berlin' : `did you mean ${quote(nearest)}?`;
  context.addIssue(`${quote(text)} is no IANA time zone; ${hint}`);
});

function isTimeZone(text: string): boolean {
  // Offsets such as +01:00 are taken by newer runtimes, and follow no daylight saving.
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const Upgrade = z
  .strictObject({
    deadline: duration('1s')
      .prefault('35m')
      .describe('From the create: an upgrade without an end by then has timed out.'),
    verifyWithin: duration('100ms')
      .prefault('10m')
      .describe("From the task's end: how long the collector may take to come back on the new build."),
    expect: duration('100ms')
      .prefault('5m')
      .describe('How long an upgrade usually takes; looks are timed by it until durations are learned.'),
  })
  .check(
    wholeCheck(({ deadline, expect }, report) => {
      if (typeof deadline === 'number' && typeof expect === 'number' && expect >= deadline)
        report(
          `must be shorter than deadline; it is ${formatDuration(expect)}, deadline ${formatDuration(deadline)}`,
          ['expect'],
        );
    }),
  )
  .prefault({})
  .transform(({ deadline, verifyWithin, expect }) => ({
    deadlineMs: deadline,
    verifyWithinMs: verifyWithin,
    expectMs: expect,
  }))
  .describe('How long one upgrade may take.');

const Backoff = z
  .strictObject({
    initial: duration('10ms').prefault('2m').describe('The wait before the second attempt.'),
    factor: z.number().min(1).max(100).default(3).describe('By how much each further wait is longer.'),
    max: duration('10ms').prefault('1h').describe('The longest wait.'),
    jitter: z
      .number()
      .min(0)
      .max(1)
      .default(0.2)
      .describe('Spreads waits at random: 0.2 by up to 20 percent either way.'),
  })
  .check(
    wholeCheck(({ initial, max }, report) => {
      if (typeof initial === 'number' && typeof max === 'number' && max < initial)
        report(
          `must not be shorter than initial; it is ${formatDuration(max)}, initial ${formatDuration(initial)}`,
          ['max'],
        );
    }),
  )
  .prefault({})
  .transform(({ initial, factor, max, jitter }) => ({ initialMs: initial, factor, maxMs: max, jitter }))
  .describe('How long to wait between attempts.');

const Retry = z
  .strictObject({
    maxAttempts: z
      .number()
      .int()
      .min(1)
      .max(100)
      .default(3)
      .describe('Upgrade tasks created for one collector in one rollout, at most.'),
    backoff: Backoff,
  })
  .prefault({})
  .describe('What failed attempts are followed by.');

const Defer = z
  .strictObject({
    upTo: duration('0s').prefault('12h').describe('How long an offline collector is waited for.'),
  })
  .prefault({})
  .transform(({ upTo }) => ({ upToMs: upTo }))
  .describe('Collectors that are offline or being upgraded by someone else.');

const MessageRule = z
  .strictObject({
    words: z
      .array(z.string().trim().min(1, 'is empty; an empty word occurs in every message').max(200))
      .min(1)
      .max(100)
      .describe('The rule matches when one of these occurs in the message, in any case.'),
    class: z
      .enum(['retry', 'retryLater', 'permanent'])
      .describe('retry: soon; retryLater: after the longest wait; permanent: not again.'),
  })
  .describe('What to do about a failed task, by words of its message; before the built-in rules.');

/** One entry under `rollouts:`. */
export const PolicySchema = z
  .strictObject({
    name: shortName().describe('What the policy is called; unique in the file.'),
    select: SelectionSchema.prefault({}),
    target: Target.prefault({}),
    schedule: Schedule.default('*/15 * * * *').describe(
      'When to look for work: a cron expression; a field of seconds may stand first.',
    ),
    timeZone: TimeZone.default('UTC').describe('The IANA time zone of the schedule, such as Europe/Berlin.'),
    concurrency: z
      .number()
      .int()
      .min(1)
      .max(10_000)
      .default(10)
      .describe('Upgrades that may be running at one instant, over all daemons.'),
    waves: WavesSchema,
    lostWeight: z
      .number()
      .int()
      .min(1)
      .max(1_000)
      .default(3)
      .describe('How many failures a collector that did not come back counts as.'),
    upgrade: Upgrade,
    retry: Retry,
    defer: Defer,
    messageRules: z
      .array(MessageRule)
      .max(100)
      .default([])
      .describe("What failed tasks' messages mean, in order; the first match wins."),
  })
  .transform((policy): Policy => policy)
  .describe('One policy: which collectors, to which build, how carefully.');
