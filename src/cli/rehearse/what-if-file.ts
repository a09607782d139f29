import { z } from 'zod';
import type { EpochMs } from '../../base/time.ts';
import { timeOfDay } from '../../config/schema/calendar-schemas.ts';
import { MatchSchema } from '../../config/schema/selection-schema.ts';
import { durationSchema, percentageSchema, wholeCheck } from '../../config/schema/value-schemas.ts';
import { ConfigError } from '../../config/source/config-error.ts';
import { describeProblems, placeProblems } from '../../config/source/describe-problems.ts';
import { explainIssue } from '../../config/source/explain-issue.ts';
import { readYaml } from '../../config/source/yaml-source.ts';
import { type DurationsFrom, nextTimeOfDay, type WhatIf } from '../../rehearsal/world/what-if.ts';
import { p95PerMedian } from '../../rollout/model/log-normal.ts';
import type { Policy } from '../../rollout/model/policy.ts';
import type { LearnedCourse } from './learn-course.ts';

/** `3%` in the file, a share from 0 to 1 in the code. */
const Share = percentageSchema('3%', 0);

const Break = z
  .strictObject({
    match: MatchSchema.exactOptional(),
    share: Share.prefault('100%'),
    how: z.enum(['fails', 'neverReturns', 'dies']).default('fails'),
    after: durationSchema('0s').exactOptional(),
  })
  .check(
    wholeCheck(({ how, after }, report) => {
      if (after !== undefined && how !== 'dies') report('is for "how: dies" only', ['after']);
      if (after === undefined && how === 'dies')
        report('is missing; give how long after the upgrade a collector dies', ['after']);
    }),
  );

const SlowService = z.strictObject({
  from: timeOfDay('23:59'),
  to: timeOfDay('23:59'),
  /** Absent: the service does not answer at all. */
  requestsPerSecond: z.number().positive().exactOptional(),
});

const WhatIfFile = z.strictObject({
  breaks: z.array(Break).max(100).default([]),
  durations: z
    .strictObject({ median: durationSchema('1s', '29m'), p95: durationSchema('1s', '29m') })
    .exactOptional(),
  failures: z.strictObject({ once: Share.exactOptional(), always: Share.exactOptional() }).prefault({}),
  service: z.array(SlowService).max(100).default([]),
  gates: z.record(z.string(), z.enum(['pass', 'hold', 'silent'])).prefault({}),
  upAgain: z
    .strictObject({ share: Share.prefault('100%'), within: durationSchema('1m', '24h') })
    .exactOptional(),
  installed: z
    .strictObject({ count: z.int().min(1).max(10_000), within: durationSchema('1m', '24h') })
    .exactOptional(),
  approval: z.union([z.enum(['atOnce', 'never']), timeOfDay('23:59')]).prefault('atOnce'),
});

/** With these, 96.5 % of first attempts succeed, a little more than in the field (field-facts.md, Upgrades). */
const usualFailures = { once: 0.03, always: 0.005 };

/** The subject of a rehearsal: the policy, when its rollout starts, and how upgrades went before, if known. */
export interface Occasion {
  readonly policy: Policy;
  readonly at: EpochMs;
  /** Without failures: the usual ones are assumed. */
  readonly learned?: LearnedCourse | undefined;
  /** A past rollout gives the durations and failures. */
  readonly isReplay?: boolean;
}

/** The assumptions without a file: no break and no outage. */
export function usualWhatIf(occasion: Occasion): WhatIf {
  return whatIfOf(WhatIfFile.parse({}), occasion);
}

/** Reads a what-if file. @throws ConfigError with every problem and its position */
export function readWhatIf(path: string, occasion: Occasion): WhatIf {
  const { policy } = occasion;
  const source = readYaml(path);
  const parsed = WhatIfFile.safeParse(source.value ?? {}, { error: explainIssue });
  if (!parsed.success) throw new ConfigError(describeProblems(parsed.error.issues, source));
  const known = policy.waves.flatMap(({ gates }) => gates.map(({ name }) => name));
  const unknown = Object.keys(parsed.data.gates).filter((name) => !known.includes(name));
  const { breaks, durations, failures, upAgain, installed } = parsed.data;
  const course = { breaks, durations, failures, upAgain, installed };
  const given = Object.entries(course).filter(([, value]) => value && Object.keys(value).length > 0);
  const issues = [
    ...unknown.map((name) => ({
      path: ['gates', name],
      part: 'key' as const,
      message: `policy ${policy.name} has no gate of this name; it has ${known.join(', ') || 'none'}`,
    })),
    ...(occasion.isReplay === true ? given : []).map(([name]) => ({
      path: [name],
      part: 'key' as const,
      message: 'is that of the rollout with --replay; leave it out',
    })),
  ];
  if (issues.length > 0) throw new ConfigError(placeProblems(issues, source));
  return whatIfOf(parsed.data, occasion);
}

/** Values of the file override learned ones. */
function whatIfOf(
  file: z.output<typeof WhatIfFile>,
  { policy, at, learned, isReplay = false }: Occasion,
): WhatIf {
  const { timeZone, upgrade } = policy;
  const usual = learned?.durations ?? {
    medianMs: upgrade.expectMs,
    p95Ms: upgrade.expectMs * p95PerMedian,
  };
  return {
    breaks: file.breaks.map(({ match, share, how, after }) => ({
      ...(match === undefined ? {} : { match }),
      ...{ share, how, afterMs: after ?? 0 },
    })),
    ...(isReplay ? {} : { durationsFrom: durationsFrom(file, learned) }),
    durations:
      file.durations === undefined ? usual : { medianMs: file.durations.median, p95Ms: file.durations.p95 },
    failures: { ...usualFailures, ...learned?.failures, ...file.failures },
    disturbances: file.service.map(({ from, to, requestsPerSecond }) => {
      const begin = nextTimeOfDay({ minute: from, timeZone }, at);
      const end = nextTimeOfDay({ minute: to, timeZone }, begin);
      return { from: begin, to: end, requestsPerSecond: requestsPerSecond ?? 0 };
    }),
    gates: file.gates,
    ...(file.upAgain && { upAgain: { share: file.upAgain.share, withinMs: file.upAgain.within } }),
    ...(file.installed && {
      installed: { count: file.installed.count, withinMs: file.installed.within },
    }),
    approval:
      typeof file.approval === 'number'
        ? { kind: 'at', minute: file.approval, timeZone }
        : { kind: file.approval },
  };
}

function durationsFrom(
  { durations }: z.output<typeof WhatIfFile>,
  learned: LearnedCourse | undefined,
): DurationsFrom {
  if (durations !== undefined) return { kind: 'file' };
  if (learned === undefined) return { kind: 'expect' };
  return { kind: 'rollout', id: learned.rolloutId, strata: 0, strataTotal: 0 };
}
