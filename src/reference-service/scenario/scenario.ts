import { z } from 'zod';
import { parseDuration } from '../../base/time.ts';
import { collectorManagementApi } from '../../contract/collector-management/api.ts';
import { createUpgradeCodes } from '../../contract/collector-management/errors.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import {
  AccessKey,
  Account,
  accountContradictions,
  type Contradiction,
  Deployment,
} from './account-scenario.ts';
import { defaultBuilds } from './default-builds.ts';
import { ErrorBodies } from './service-failure.ts';

/** `250ms`, `30s`, `1.5h`, `7d`: milliseconds inside. */
const Duration = z.string().transform((text, context) => {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined) return durationMs;
  context.addIssue({
    code: 'custom',
    message: `"${text}" is no duration; write it like 250ms, 30s, 15m, 12h, 7d`,
  });
  return z.NEVER;
});
const Share = z.number().min(0).max(1);
const Glob = z.string().min(1);

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

/** More than an account holds, to see what grows with the fleet. */
const fleetSizeMax = 100_000;

const Fleet = z.strictObject({
  size: z.number().int().min(0).max(fleetSizeMax).default(200),
  seed: z.union([z.string(), z.number()]).transform(String).default('1'),
  /** Parts of the whole fleet (field-facts.md, A realistic fleet). */
  shares: z
    .strictObject({
      windows: Share.default(0.33),
      mac: Share.default(0.02),
      oldOs: Share.default(0.03),
      hosted: Share.default(0.02),
      container: Share.default(0.05),
      /** Containers among them. */
      ephemeral: Share.default(0.15),
      dead: Share.default(0.08),
      json: Share.default(0.3),
      category: Share.default(0.5),
      fields: Share.default(0.3),
      unparsableVersion: Share.default(0.005),
      aboveLatest: Share.default(0.01),
      latestOrOneBehind: Share.default(0.25),
      withinOneYear: Share.default(0.33),
      /** What remains runs still older builds. */
      oneToThreeYears: Share.default(0.25),
    })
    .prefault({}),
});

const BuildEntry = z.strictObject({
  version: z.string(),
  /** False: collectors still run it, but it is not on offer. */
  offered: z.boolean().default(true),
  /** Marks it as the latest although others follow in the list. */
  latest: z.boolean().default(false),
  /** After the start. */
  offeredAfter: Duration.prefault('0s'),
  withdrawnAfter: Duration.optional(),
});
const Build = z.union([
  z
    .string()
    .transform((version) => ({ version }))
    .pipe(BuildEntry),
  BuildEntry,
]);
export type Build = z.infer<typeof Build>;

const Limits = z.strictObject({
  /** Per real second, times the speed; null switches a limit off. */
  requestsPerSecond: z.number().positive().nullable().default(serviceLimits.requestsPerSecond),
  concurrentRequests: z.number().int().positive().nullable().default(serviceLimits.concurrentRequests),
  /** For each client address. A client that keeps no cookie signs in with each of its 240 requests a minute. */
  signInsPerMinute: z.number().int().positive().nullable().default(300),
  /** For each client address; unlimited where `signInsPerMinute` is. */
  failedSignInsPerMinute: z.number().int().positive().nullable().default(30),
  sessionLifetime: Duration.prefault('1h'),
  /** Stated in `Retry-After` of a 429; null leaves the header out. */
  retryAfter: Duration.nullable().default(null),
  taskTimeout: Duration.prefault('30m'),
});

const Durations = z.strictObject({
  median: Duration.prefault('5m'),
  /** With the increments on top, 95 in 100 end within about 20 minutes. */
  p95: Duration.prefault('17m'),
  min: Duration.prefault('40s'),
  /** Longer draws are cut to this; above the task time-out they time out. */
  max: Duration.prefault('29m'),
  /** How long the collector is silent around its restart. */
  restartMin: Duration.prefault('10s'),
  restartMax: Duration.prefault('60s'),
  /** A collector so many builds behind passes an intermediate one; null switches it off. */
  incrementFromBuildsBehind: z.number().int().min(2).nullable().default(6),
  incrementFactor: z.number().min(1).default(1.3),
});

/** What first tries meet beside the rules. */
const NaturalFailures = z.strictObject({
  failed: Share.default(0.035),
  timeout: Share.default(0.02),
  lost: Share.default(0.003),
  /** A Mac stays down after an upgrade until it is restarted by hand. */
  lostMac: Share.default(0.33),
  /** A try after a failed one fails likewise; a lasting cause (permission) always does. */
  again: Share.default(0.3),
});

const FailureRule = z.strictObject({
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

const HttpFault = z.strictObject({
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

const FleetEvent = z.strictObject({
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

/** Kinds of sources (collector-api.md §1, §3); the specification names no type of either kind, so these are ours. */
const Sources = z.strictObject({
  /** Deleting one of these lets it stop first. */
  cloudToCloud: z.array(Glob).default(['Universal', 'CloudToCloud*']),
  /** These can't be created through the API. */
  needOAuth: z.array(Glob).default(['*OAuth*']),
  /** How long a deleted cloud-to-cloud source is `Stopping`. */
  stopping: Duration.prefault('1m'),
});

/** What the service plays. Everything is optional; README.md shows it by example. */
export const Scenario = z.strictObject({
  fleet: Fleet.prefault({}),
  /** In the order of their release. */
  builds: z
    .array(Build)
    .min(1)
    .prefault([...defaultBuilds]),
  /** Older collectors are silently missing from the upgradable list, and an upgrade of theirs times out. */
  tooOldBelow: z.string().default('19.182-0'),
  limits: Limits.prefault({}),
  durations: Durations.prefault({}),
  naturalFailures: NaturalFailures.prefault({}),
  /** In order; the first that matches decides, before the natural ones. */
  failures: z.array(FailureRule).default([]),
  /** In order; the first that strikes decides. */
  httpFaults: z.array(HttpFault).default([]),
  events: z.array(FleetEvent).default([]),
  sources: Sources.prefault({}),
  /** Accounts by name. `main` is always there, with the fleet above; the others have a small one of their own. */
  accounts: z.record(z.string().min(1), Account).default({}),
  /** Access keys beside those the service is started with. */
  keys: z.array(AccessKey).default([]),
  /** Other deployments than the default one, by label (collector-api.md §1). */
  deployments: z.record(z.string().regex(/^[a-z0-9-]+$/), Deployment).default({}),
  /** Hosts for which this is the wrong deployment: 301 to `location`, or to the service's own address. */
  moved: z
    .strictObject({ hosts: z.array(z.string()), location: z.string().optional() })
    .prefault({ hosts: [] }),
  /** True: an upgrade operation without `Content-Type: application/json` is answered 415, a GET too. */
  strictContentType: z.boolean().default(false),
  /** True: an update states each field that the GET shows (collector-api.md §4.4); else what it leaves out may stay out. */
  strictUpdates: z.boolean().default(false),
  /** Names of error codes: as documented, or as found on the wire (field-facts.md, The wire). */
  errorCodes: z.enum(['documented', 'wire']).default('documented'),
  /** Bodies of errors (field-facts.md, The wire): one form for all, or one for each status, `{ 429: list, 401: html }`. */
  errorBodies: ErrorBodies.default('flat'),
});
export type Scenario = z.infer<typeof Scenario>;
/** A scenario as it is written: everything may be left out, durations are texts. */
export type ScenarioInput = z.input<typeof Scenario>;

/** A scenario that can't be used, with everything that is wrong in it. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError';
  readonly issues: readonly z.core.$ZodIssue[];
  constructor(issues: readonly z.core.$ZodIssue[]) {
    const lines = issues.map(({ path, message }) => `  ${path.join('.') || '(top)'}: ${message}`);
    super(`the scenario has ${issues.length} mistake(s):\n${lines.join('\n')}`);
    this.issues = issues;
  }
}

/**
 * Reads a scenario from plain data.
 * @param explain writes the messages of the issues; zod's own where left out
 * @throws ScenarioError naming every mistake with its path
 */
export function parseScenario(data: unknown, explain?: (issue: z.core.$ZodRawIssue) => string): Scenario {
  const parsed = Checked.safeParse(data ?? {}, explain === undefined ? undefined : { error: explain });
  if (!parsed.success) throw new ScenarioError(parsed.error.issues);
  return parsed.data;
}

const Checked = Scenario.superRefine((scenario, { addIssue }) => {
  for (const { path, message } of contradictions(scenario))
    addIssue({ code: 'custom', path: [...path], message });
});

function contradictions(scenario: Scenario): readonly Contradiction[] {
  const found: Contradiction[] = [];
  const { min, median, p95, max, restartMin, restartMax } = scenario.durations;
  if (!(min <= median && median < p95)) {
    found.push({ path: ['durations'], message: 'needs min <= median < p95' });
  }
  if (max < min) found.push({ path: ['durations', 'max'], message: 'is below min' });
  if (restartMax < restartMin) {
    found.push({ path: ['durations', 'restartMax'], message: 'is below restartMin' });
  }
  scenario.failures.forEach((rule, index) => {
    if (rule.outcome === 'createCode' && rule.code === undefined) {
      const message = `an outcome createCode needs one of ${createUpgradeCodes.join(', ')}`;
      found.push({ path: ['failures', index, 'code'], message });
    }
  });
  if (!scenario.builds.some((build) => build.offered)) {
    found.push({ path: ['builds'], message: 'none is on offer' });
  }
  return [...found, ...accountContradictions(scenario)];
}
