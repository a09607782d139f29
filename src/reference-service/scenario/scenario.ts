import { z } from 'zod';
import { singularOrPlural } from '../../base/singular-or-plural.ts';
import { createUpgradeCodes } from '../../contract/collector-management/errors.ts';
import { serviceLimits } from '../../contract/collector-management/limits.ts';
import {
  AccessKey,
  Account,
  Deployment,
  type ReportMistake,
  reportAccountMistakes,
} from './account-scenario.ts';
import { defaultBuilds } from './default-builds.ts';
import { Duration, FailureRule, FleetEvent, Glob, HttpFault, Share, SlowRule } from './happenings.ts';
import { ErrorBodies } from './refused-request.ts';

/** More than an account may have, to test what grows with the fleet. */
const fleetSizeMax = 100_000;

const Fleet = z.strictObject({
  size: z.number().int().min(0).max(fleetSizeMax).default(200),
  seed: z.union([z.string(), z.number()]).transform(String).default('1'),
  /** Shares of the whole fleet (field-facts.md, A realistic fleet). */
  shares: z
    .strictObject({
      windows: Share.default(0.33),
      mac: Share.default(0.02),
      oldOs: Share.default(0.03),
      hosted: Share.default(0.02),
      container: Share.default(0.05),
      /** Including containers. */
      ephemeral: Share.default(0.15),
      dead: Share.default(0.08),
      json: Share.default(0.3),
      category: Share.default(0.5),
      fields: Share.default(0.3),
      unparsableVersion: Share.default(0.005),
      aboveLatest: Share.default(0.01),
      latestOrOneBehind: Share.default(0.25),
      withinOneYear: Share.default(0.33),
      /** The rest runs still older builds. */
      oneToThreeYears: Share.default(0.25),
    })
    .prefault({}),
});

const BuildEntry = z.strictObject({
  version: z.string(),
  /** False: collectors still run it, but it is not on offer. */
  offered: z.boolean().default(true),
  /** Marks it as the latest build although others follow in the list. */
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
  /** Per real second, multiplied by the speed. null switches a limit off. */
  requestsPerSecond: z.number().positive().nullable().default(serviceLimits.requestsPerSecond),
  concurrentRequests: z.number().int().positive().nullable().default(serviceLimits.concurrentRequests),
  /** Per client address. A client that stores no cookie signs in with each of its 240 requests a minute. */
  signInsPerMinute: z.number().int().positive().nullable().default(300),
  /** Per client address. Unlimited if `signInsPerMinute` is. */
  failedSignInsPerMinute: z.number().int().positive().nullable().default(30),
  sessionLifetime: Duration.prefault('1h'),
  /** Sent in `Retry-After` with a 429; null: no header. */
  retryAfter: Duration.nullable().default(null),
  taskTimeout: Duration.prefault('30m'),
});

const Durations = z.strictObject({
  median: Duration.prefault('5m'),
  /** With intermediate builds, 95 in 100 end within about 20 minutes. */
  p95: Duration.prefault('17m'),
  min: Duration.prefault('40s'),
  /** Longer durations are reduced to this. Above the task time-out they time out. */
  max: Duration.prefault('29m'),
  /** How long the collector is silent during its restart. */
  restartMin: Duration.prefault('10s'),
  restartMax: Duration.prefault('60s'),
  /** A collector this many builds behind passes an intermediate one; null switches it off. */
  incrementFromBuildsBehind: z.number().int().min(2).nullable().default(6),
  incrementFactor: z.number().min(1).default(1.3),
  /** In order. The first match decides. */
  slow: z.array(SlowRule).default([]),
});

/** Failures of first attempts beside those of rules. */
const NaturalFailures = z.strictObject({
  failed: Share.default(0.035),
  timeout: Share.default(0.02),
  lost: Share.default(0.003),
  /** A Mac stays down after an upgrade until it is restarted by hand. */
  lostMac: Share.default(0.33),
  /** The chance that a further attempt fails as well. A lasting cause (permission) always does. */
  again: Share.default(0.3),
});

/** Kinds of sources (collector-api.md §1, §3). Their types are not specified, so these are our choice. */
const Sources = z.strictObject({
  /** These stop first when they are deleted. */
  cloudToCloud: z.array(Glob).default(['Universal', 'CloudToCloud*']),
  /** These can't be created through the API. */
  needOAuth: z.array(Glob).default(['*OAuth*']),
  /** How long a deleted cloud-to-cloud source is `Stopping`. */
  stopping: Duration.prefault('1m'),
});

/** The scenario of the service. Everything is optional. README.md shows an example. */
export const Scenario = z.strictObject({
  fleet: Fleet.prefault({}),
  /** In the order of their release. */
  builds: z
    .array(Build)
    .min(1)
    .prefault([...defaultBuilds]),
  /** Older collectors are missing from the upgradable list, and their upgrades time out. */
  tooOldBelow: z.string().default('19.182-0'),
  limits: Limits.prefault({}),
  durations: Durations.prefault({}),
  naturalFailures: NaturalFailures.prefault({}),
  /** In order. The first match decides, before the natural failures. */
  failures: z.array(FailureRule).default([]),
  /** In order. The first one that applies decides. */
  httpFaults: z.array(HttpFault).default([]),
  events: z.array(FleetEvent).default([]),
  sources: Sources.prefault({}),
  /** Accounts by name. `main` always exists, with the fleet above. Each other account has its own small fleet. */
  accounts: z.record(z.string().min(1), Account).default({}),
  /** Access keys in addition to those at the start of the service. */
  keys: z.array(AccessKey).default([]),
  /** Deployments besides the default one, by label (collector-api.md §1). */
  deployments: z.record(z.string().regex(/^[a-z0-9-]+$/), Deployment).default({}),
  /** Hosts that are redirected with 301 to `location`, or to the service's own address. */
  moved: z
    .strictObject({ hosts: z.array(z.string()), location: z.string().optional() })
    .prefault({ hosts: [] }),
  /** True: an upgrade operation without `Content-Type: application/json` gets 415, even a GET. */
  strictContentType: z.boolean().default(false),
  /** How long each request takes; null: no time. */
  latency: z
    .strictObject({ median: Duration, p95: Duration })
    .refine(({ median, p95 }) => 0 < median && median < p95, 'needs 0 < median < p95')
    .nullable()
    .default(null),
  /** What an update does to an optional field of a collector that it does not state: the specification is silent. */
  unstatedFields: z.enum(['clear', 'keep']).default('clear'),
  /** True: an update must state each field that the GET shows (collector-api.md §4.4). */
  strictUpdates: z.boolean().default(false),
  /** Names of error codes: documented, or as on the wire (field-facts.md, The wire). */
  errorCodes: z.enum(['documented', 'wire']).default('documented'),
  /** Bodies of errors (field-facts.md, The wire): one form for all, or one per status, `{ 429: list, 401: html }`. */
  errorBodies: ErrorBodies.default('flat'),
});
export type Scenario = z.infer<typeof Scenario>;
/** A scenario as it is written: everything is optional, durations are texts. */
export type ScenarioInput = z.input<typeof Scenario>;

/** An invalid scenario, with all its mistakes. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError';
  readonly issues: readonly z.core.$ZodIssue[];
  constructor(issues: readonly z.core.$ZodIssue[]) {
    const lines = issues.map(({ path, message }) => `  ${path.join('.') || '(top)'}: ${message}`);
    super(
      `the scenario has ${issues.length} ${singularOrPlural(issues.length, 'error')}:\n${lines.join('\n')}`,
    );
    this.issues = issues;
  }
}

/**
 * Parses a scenario from plain data.
 * @param explain writes the messages of issues; default: zod's own
 * @throws ScenarioError naming every mistake with its path
 */
export function parseScenario(data: unknown, explain?: (issue: z.core.$ZodRawIssue) => string): Scenario {
  const parsed = Checked.safeParse(data ?? {}, explain === undefined ? undefined : { error: explain });
  if (!parsed.success) throw new ScenarioError(parsed.error.issues);
  return parsed.data;
}

const Checked = Scenario.superRefine((scenario, { addIssue }) => {
  const report: ReportMistake = (path, message) => addIssue({ code: 'custom', path: [...path], message });
  reportContradictions(scenario, report);
  reportAccountMistakes(scenario, report);
});

function reportContradictions({ durations, failures, builds }: Scenario, report: ReportMistake): void {
  const { min, median, p95, max, restartMin, restartMax } = durations;
  if (!(min <= median && median < p95)) report(['durations'], 'needs min <= median < p95');
  if (max < min) report(['durations', 'max'], 'is below min');
  if (restartMax < restartMin) report(['durations', 'restartMax'], 'is below restartMin');
  failures.forEach(({ outcome, code }, index) => {
    if (outcome === 'createCode' && code === undefined)
      report(
        ['failures', index, 'code'],
        `an outcome createCode needs one of ${createUpgradeCodes.join(', ')}`,
      );
  });
  if (!builds.some(({ offered }) => offered)) report(['builds'], 'none is available');
}
