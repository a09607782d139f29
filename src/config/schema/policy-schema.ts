import { validate as isCronExpression } from 'node-cron';
import { z } from 'zod';
import { formatDuration } from '../../base/time.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import { quote } from '../source/config-error.ts';
import { FreezesSchema, TimeZoneSchema, WindowsSchema } from './calendar-schemas.ts';
import { CapsSchema, SpreadBySchema } from './collector-key-schemas.ts';
import { reportManyPatterns, SelectionSchema } from './selection-schema.ts';
import { reportShortWindows } from './short-windows.ts';
import { TargetSchema } from './target-schema.ts';
import { duration, shortName, wholeCheck } from './value-schemas.ts';
import { WavesSchema } from './waves-schema.ts';

const cronCharactersMax = 200;

/** In the dialect of the scheduler that runs it: days of the month and of the week must both match. */
const Schedule = z.string().refine((text) => text.length <= cronCharactersMax && isCronExpression(text), {
  error: (issue) =>
    `${quote(String(issue.input))} is no cron expression that comes due; write five fields, or six with seconds first, such as "*/15 * * * *"`,
});

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
      .describe(
        'How long an upgrade usually takes; looks and closing windows are reckoned by it until durations are learned.',
      ),
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
    max: duration('10ms')
      .prefault('1h')
      .describe('The longest wait; what passes slowly, such as a full disk, waits it at once.'),
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
    upTo: duration('0s')
      .prefault('12h')
      .describe('How long an offline collector is waited for, in all until it is upgrading.'),
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
      .describe(
        'retry: after a wait that begins with backoff.initial and grows; retryLater: after backoff.max at once; permanent: not again.',
      ),
  })
  .describe('What to do about a failed task, by words of its message; before the built-in rules.');

/** One entry under `rollouts:`. */
export const PolicySchema = z
  .strictObject({
    name: shortName().describe('What the policy is called; unique in the file.'),
    select: SelectionSchema.prefault({}),
    target: TargetSchema.prefault({}),
    schedule: Schedule.default('*/15 * * * *').describe(
      'When to look for work: a cron expression; a field of seconds may stand first.',
    ),
    timeZone: TimeZoneSchema.default('UTC').describe(
      'The IANA time zone of the schedule, and of windows and freezes that name none, such as Europe/Berlin.',
    ),
    approval: z
      .boolean()
      .default(false)
      .describe('Whether to show the plan, and wait for an operator to approve it, before anything starts.'),
    windows: WindowsSchema,
    freezes: FreezesSchema,
    concurrency: z
      .number()
      .int()
      .min(1)
      .max(10_000)
      .default(10)
      .describe('Upgrades that may be running at one instant, over all daemons.'),
    maxInFlightPer: CapsSchema,
    spreadBy: SpreadBySchema,
    isolateStrata: z
      .boolean()
      .default(true)
      .describe('Whether a stratum whose failures stand out is held alone, and the rest goes on.'),
    waves: WavesSchema,
    onBreach: z
      .enum(['hold', 'abort', 'rollback'])
      .default('hold')
      .describe(
        'What too many failures, or a gate that is missed, lead to: hold until an operator speaks, abort, or rollback to the builds before, within windows and freezes.',
      ),
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
  .check(wholeCheck(reportShortWindows))
  .check(wholeCheck(reportManyPatterns))
  .transform((policy): Policy => {
    const inZone = <Rule extends object>(rule: Rule) => ({ timeZone: policy.timeZone, ...rule });
    return { ...policy, windows: policy.windows.map(inZone), freezes: policy.freezes.map(inZone) };
  })
  .describe('One policy: which collectors, to which build, how carefully.');
