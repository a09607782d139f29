import { z } from 'zod';
import { parseDuration } from '../../base/time.ts';
import { collectorManagementApi } from '../../contract/collector-management/api.ts';
import { createUpgradeCodes } from '../../contract/collector-management/errors.ts';

/** A duration such as `250ms`, `30s`, `1.5h`, `7d`, parsed to milliseconds. */
export const Duration = z.string().transform((text, context) => {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined) return durationMs;
  context.addIssue({
    code: 'custom',
    message: `"${text}" is not a duration; write it like 250ms, 30s, 15m, 12h, 7d`,
  });
  return z.NEVER;
});
export const Share = z.number().min(0).max(1);
export const Glob = z.string().min(1);

/** The collectors of a rule or event. All given keys must match. Without keys every collector matches. */
export const CollectorMatch = z.strictObject({
  ids: z.array(z.number().int()).optional(),
  name: Glob.optional(),
  category: Glob.optional(),
  osName: Glob.optional(),
  osArch: Glob.optional(),
  /** The build it runs now. */
  version: Glob.optional(),
  ephemeral: z.boolean().optional(),
  /** A share of the fleet, chosen by a hash of seed and collector: always the same ones. */
  share: Share.optional(),
  /** This many of the matching collectors that could be upgraded at the start, chosen by the same hash. */
  count: z.number().int().min(1).optional(),
});
export type CollectorMatch = z.infer<typeof CollectorMatch>;

/** Collectors whose upgrades take so many times as long. */
export const SlowRule = z.strictObject({
  match: CollectorMatch.omit({ count: true }),
  times: z.number().positive(),
});

export const FailureRule = z.strictObject({
  match: CollectorMatch.prefault({}),
  /** The target build. Default: any. */
  toVersion: Glob.optional(),
  /** The attempts of a collector for one build, from 1. */
  attempts: z.union([z.literal('all'), z.array(z.number().int().min(1)).min(1)]).default('all'),
  outcome: z.enum([
    /** Status 3 with the message. */
    'failed',
    /** No end until the task time-out. */
    'timeout',
    /** Status 3 by the time-out, although the collector was upgraded. */
    'lateSuccess',
    /** Status 2, but the collector never comes back. */
    'lost',
    /** Status 2, and the service shows the build, but the collector died before the task's end. */
    'lostOnBuild',
    /** The collector goes down in the upgrade and never comes back; the task times out. */
    'lostInUpgrade',
    /** Status 2, but the collector runs another build (`build`, or the one it had). */
    'otherBuild',
    /** Status 2, and the collector is alive on the build, but delivers no messages. */
    'silent',
    /** The create itself is refused with `code`. */
    'createCode',
    /** It succeeds, whatever later rules say. */
    'succeeded',
  ]),
  message: z.string().optional(),
  build: z.string().optional(),
  code: z.enum(createUpgradeCodes).optional(),
});
export type FailureRule = z.infer<typeof FailureRule>;

export const HttpFault = z.strictObject({
  /** Names of operations. Default: all. */
  operations: z
    .array(z.enum(collectorManagementApi.map(({ name }) => name)))
    .min(1)
    .optional(),
  share: Share,
  fault: z.enum([
    '500',
    '502html',
    '503',
    /** With a gateway's body, `errors[]`. */
    '429',
    /** Like a throttled sign-in. */
    '401',
    /** As if no collector, source or task existed: a lost role, or another tenant. */
    '404',
    'cutOff',
    /** From here on the request is processed first. */
    'cutOffMidBody',
    'brokenJson',
    'answerLost',
    '500AfterWork',
    'slow',
    /** Lists of collectors return 200 without rows. */
    'emptyList',
    /** Lists of collectors return 200 with a share of their rows, always the same ones. */
    'partialList',
    /** Lists of collectors return their rows in another order at each request: the specification promises none. */
    'shuffledList',
  ]),
  /** For `slow`. */
  delay: Duration.prefault('10s'),
  /** For `partialList`: the share of remaining collectors. */
  keeps: Share.default(0.5),
  /** After the start. */
  from: Duration.prefault('0s'),
  until: Duration.optional(),
});
export type HttpFault = z.infer<typeof HttpFault>;

export const FleetEvent = z.strictObject({
  /** After the start. */
  after: Duration,
  match: CollectorMatch.prefault({}),
  event: z.enum(['dies', 'returns', 'vanishes', 'humanUpgrade', 'appears']),
  /** For `humanUpgrade`. Default: the latest build. */
  toVersion: z.string().optional(),
  /** For `appears`: how many new collectors. */
  newcomers: z.number().int().min(1).default(1),
});
export type FleetEvent = z.infer<typeof FleetEvent>;
