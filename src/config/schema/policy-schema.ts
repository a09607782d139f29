import { validate as isCronExpression } from 'node-cron';
import { z } from 'zod';
import { formatDuration } from '../../base/time.ts';
import { isolations, type Policy } from '../../rollout/model/policy.ts';
import { quote } from '../source/config-error.ts';
import { FreezesSchema, TimeZoneSchema, WindowsSchema } from './calendar-schemas.ts';
import { CapsSchema, SpreadBySchema } from './collector-key-schemas.ts';
import { PaceSchema } from './pace-schema.ts';
import { reportManyPatterns, SelectionSchema } from './selection-schema.ts';
import { reportShortWindows } from './short-windows.ts';
import { TargetSchema } from './target-schema.ts';
import { durationSchema, shortName, wholeCheck, wholeNumber } from './value-schemas.ts';
import { WavesSchema } from './waves-schema.ts';

const cronCharactersMax = 200;

/** The fields of a cron expression from the right, each with its highest value. */
const cronFields = [
  { name: 'day of the week', highest: 7 },
  { name: 'month', highest: 12 },
  { name: 'day of the month', highest: 31 },
  { name: 'hour', highest: 23 },
  { name: 'minute', highest: 59 },
  { name: 'second', highest: 59 },
] as const;

/** In the dialect of the scheduler that runs it: days of the month and of the week must both match. */
const Schedule = z
  .string()
  .refine(
    (text) => text.length <= cronCharactersMax && isCronExpression(text) && longStepIn(text) === undefined,
    {
      error: (issue) => {
        const text = String(issue.input);
        return (
          longStepIn(text) ??
          `${quote(text)} is not a cron expression that comes due; write five fields, or six with seconds first, such as "*/15 * * * *"`
        );
      },
    },
  );

/** The scheduler accepts any step. A step above its field's range runs on the first value only. */
function longStepIn(text: string): string | undefined {
  if (text.length > cronCharactersMax || !isCronExpression(text)) return undefined;
  const parts = text.trim().split(/\s+/).reverse();
  for (const [index, { name, highest }] of cronFields.entries()) {
    const steps = parts[index]?.matchAll(/\/(\d+)/g) ?? [];
    for (const [written, step] of steps)
      if (Number(step) > highest)
        return `${quote(text)} has the step "${written}" in its ${name} field; write a step of at most ${highest}`;
  }
  return undefined;
}

const Upgrade = z
  .strictObject({
    deadline: durationSchema('1s')
      .prefault('35m')
      .describe('How long after its create an upgrade without an end times out.'),
    verifyWithin: durationSchema('100ms')
      .prefault('10m')
      .describe("How long after the task's end the collector may take to come back on the new build."),
    expect: durationSchema('100ms')
      .prefault('5m')
      .describe(
        'The median duration of an upgrade. Polls, estimates and closing windows use it until upwave has learned real durations.',
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
  .describe('How long an upgrade may take.');

const Backoff = z
  .strictObject({
    initial: durationSchema('10ms').prefault('2m').describe('The wait before the second attempt.'),
    factor: z.number().min(1).max(100).default(3).describe('The factor by which each further wait grows.'),
    max: durationSchema('10ms')
      .prefault('1h')
      .describe(
        'The longest wait. Causes that need time, such as a full disk, wait this long from the first retry.',
      ),
    jitter: z
      .number()
      .min(0)
      .max(1)
      .default(0.2)
      .describe('How much waits vary at random. 0.2 is up to 20 percent either way.'),
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
    maxAttempts: wholeNumber(1, 100)
      .default(3)
      .describe('How many upgrade tasks one collector may get in one rollout.'),
    backoff: Backoff,
  })
  .prefault({})
  .describe('How failed attempts are retried.');

const Defer = z
  .strictObject({
    upTo: durationSchema('0s')
      .prefault('12h')
      .describe('How long upwave waits for an offline collector in total.'),
  })
  .prefault({})
  .transform(({ upTo }) => ({ upToMs: upTo }))
  .describe('How to wait for collectors that are offline or in an upgrade of someone else.');

const MessageRule = z
  .strictObject({
    words: z
      .array(z.string().trim().min(1, 'is empty; an empty word occurs in every message').max(200))
      .min(1)
      .max(100)
      .describe('The rule matches when the message contains one of these, case-insensitive.'),
    class: z
      .enum(['retry', 'retryLater', 'permanent'])
      .describe(
        'retry: after a growing wait from backoff.initial. retryLater: after backoff.max. permanent: never.',
      ),
  })
  .describe('What to do after a failed task, by its message. These rules come before the built-in rules.');

/** One entry under `rollouts:`. */
export const PolicySchema = z
  .strictObject({
    name: shortName().describe('The name of the policy, unique in the file.'),
    account: shortName()
      .exactOptional()
      .describe('The account of the policy, one of `accounts`. Needed where there are several.'),
    accounts: z
      .array(shortName())
      .min(1, 'is an empty list; name the accounts of the policy')
      .max(100)
      .exactOptional()
      .describe(
        'Several accounts instead of one. The policy becomes one policy for each, called `<name>-<account>`, with its own rollouts.',
      ),
    select: SelectionSchema.prefault({}),
    target: TargetSchema.prefault({}),
    schedule: Schedule.default('*/15 * * * *').describe(
      'When to scan for work, as a cron expression. A field for seconds may come first. A scan that fails is repeated before the next one.',
    ),
    timeZone: TimeZoneSchema.default('UTC').describe(
      'The IANA time zone of the schedule, such as Europe/Berlin. Windows and freezes without a zone use it too.',
    ),
    approval: z
      .boolean()
      .default(false)
      .describe('Whether an operator must approve the plan before anything starts.'),
    windows: WindowsSchema,
    freezes: FreezesSchema,
    concurrency: wholeNumber(1, 10_000)
      .default(10)
      .describe('How many upgrades may run at the same time, over all daemons.'),
    maxInFlightPer: CapsSchema,
    pace: PaceSchema.exactOptional(),
    spreadBy: SpreadBySchema,
    isolate: z
      .enum(isolations)
      .default('strata')
      .describe(
        'Which collectors are held alone, while the others continue. strata: an outlier stratum. attributes: also collectors with the shared attribute of the failures, such as `fields.rack=r7`; otherwise upwave shows the command for it. off: none, and the whole rollout is held.',
      ),
    waves: WavesSchema,
    onBreach: z
      .enum(['hold', 'abort', 'rollback'])
      .default('hold')
      .describe(
        'What happens after too many failures or a failed gate: hold until an operator acts, abort, or rollback to the previous builds. A rollback keeps to windows and freezes.',
      ),
    lostWeight: wholeNumber(1, 1_000)
      .default(3)
      .describe('How many failures a collector that did not come back counts as.'),
    upgrade: Upgrade,
    retry: Retry,
    defer: Defer,
    messageRules: z
      .array(MessageRule)
      .max(100)
      .default([])
      .describe('What the messages of failed tasks mean. The first rule that matches wins.'),
  })
  .check(wholeCheck(reportShortWindows))
  .check(wholeCheck(reportManyPatterns))
  .transform((policy): Policy & { account?: string; accounts?: string[] } => {
    const inZone = <Rule extends object>(rule: Rule) => ({ timeZone: policy.timeZone, ...rule });
    return {
      ...policy,
      windows: policy.windows.map(inZone),
      waves: policy.waves.map(({ windows, ...wave }) =>
        windows === undefined ? wave : { ...wave, windows: windows.map(inZone) },
      ),
      freezes: policy.freezes.map(inZone),
    };
  })
  .describe('One policy: which collectors to upgrade, to which build, and how carefully.');
