import { z } from 'zod';
import { parseDuration } from '../../base/time.ts';
import { collectorManagementApi } from '../../contract/collector-management/api.ts';
import { createUpgradeCodes } from '../../contract/collector-management/errors.ts';

/** `250ms`, `30s`, `1.5h`, `7d`: milliseconds inside. */
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

/** Which collectors something happens to. All given keys must match; none given matches every collector. */
export const CollectorMatch = z.strictObject({
  ids: z.array(z.number().int()).optional(),
  name: Glob.optional(),
  category: Glob.optional(),
  osName: Glob.optional(),
  osArch: Glob.optional(),
  /** The build it runs now. */
  version: Glob.optional(),
  ephemeral: z.boolean().optional(),
  /** Part of the fleet, chosen by a hash of seed and collector: always the same ones. */
  share: Share.optional(),
  /** So many of the matching collectors that could be upgraded at the start, chosen by the same hash. */
  count: z.number().int().min(1).optional(),
});
export type CollectorMatch = z.infer<typeof CollectorMatch>;

export const FailureRule = z.strictObject({
  match: CollectorMatch.prefault({}),
  /** Target build; any where left out. */
  toVersion: Glob.optional(),
  /** Which tries of a collector for one build; counted from 1. */
  attempts: z.union([z.literal('all'), z.array(z.number().int().min(1)).min(1)]).default('all'),
  outcome: z.enum([
    /** Status 3 with the message. */
    'failed',
    /** No end until the task time-out. */
    'timeout',
    /** Status 3 by the time-out, yet the collector was upgraded. */
    'lateSuccess',
    /** Status 2, then the collector never comes back. */
    'lost',
    /** The collector goes down in the upgrade and never comes back; the task times out. */
    'lostInUpgrade',
    /** Status 2, but the collector runs another build (`build`, or the one it had). */
    'otherBuild',
    /** Status 2, and the collector is alive on the build, but delivers no message any more. */
    'silent',
    /** The create itself is refused with `code`. */
    'createCode',
    /** It goes well, whatever follows in the list. */
    'succeeded',
  ]),
  message: z.string().optional(),
  build: z.string().optional(),
  code: z.enum(createUpgradeCodes).optional(),
});
export type FailureRule = z.infer<typeof FailureRule>;

export const HttpFault = z.strictObject({
  /** Names of the contract's operations; all where left out. */
  operations: z
    .array(z.enum(collectorManagementApi.map(({ name }) => name)))
    .min(1)
    .optional(),
  share: Share,
  fault: z.enum([
    '500',
    '502html',
    '503',
    /** In the gateway's body, `errors[]`. */
    '429',
    /** As a throttled sign-in answers. */
    '401',
    /** As if no collector, source or task were known: a lost role, or another tenant. */
    '404',
    'cutOff',
    /** From here on the work is done first. */
    'cutOffMidBody',
    'brokenJson',
    'answerLost',
    '500AfterWork',
    'slow',
    /** Lists of collectors answer 200 without a row. */
    'emptyList',
    /** Lists of collectors answer 200 with a share of their rows, always the same ones. */
    'partialList',
  ]),
  /** For `slow`. */
  delay: Duration.prefault('10s'),
  /** For `partialList`: the share of the collectors that stay. */
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
  /** For `humanUpgrade`; the latest where left out. */
  toVersion: z.string().optional(),
  /** For `appears`: how many new collectors. */
  newcomers: z.number().int().min(1).default(1),
});
export type FleetEvent = z.infer<typeof FleetEvent>;
