import { z } from 'zod';
import { type DurationMs, formatDuration } from '../../base/time.ts';
import type { Amount, GateRule, WaveRule, WaveSize } from '../../rollout/model/policy.ts';
import { quote } from '../source/config-error.ts';
import { LocalTime, type ReadWindow, WaveWindowsSchema } from './calendar-schemas.ts';
import { defaultDataFlow, GatesSchema } from './gates-schema.ts';
import { PaceSchema } from './pace-schema.ts';
import { MatchSchema } from './selection-schema.ts';
import {
  durationSchema,
  partOf,
  shortName,
  uniqueNames,
  type WholeReport,
  wholeListCheck,
} from './value-schemas.ts';

const Wave = z
  .strictObject({
    name: shortName().describe('The name of the wave, unique in the policy.'),
    size: waveSize()
      .exactOptional()
      .describe(
        'How many collectors: a count, a percentage of the plan (rounded up), or "1 per stratum". The last wave takes the remaining ones and has no size or 100%.',
      ),
    match: MatchSchema.exactOptional(),
    soak: durationSchema('0s')
      .exactOptional()
      .describe(
        "How long the wave's collectors must stay healthy before the next wave opens. The default is 30m, in the last wave 0s.",
      ),
    maxFailures: amount()
      .prefault('1%')
      .describe(
        'How many failures the wave may have: a count, or a percentage of the wave (rounded down). After a resume only new failures count.',
      ),
    approval: z
      .boolean()
      .default(false)
      .describe('Whether an operator must approve the wave before it opens.'),
    pace: PaceSchema.exactOptional(),
    windows: WaveWindowsSchema.exactOptional(),
    notBefore: LocalTime.exactOptional().describe(
      "When the wave may start at the earliest, in local time of the policy's zone: 2026-12-01 or 2026-12-01T08:00.",
    ),
    gates: GatesSchema,
    dataFlow: z
      .literal('required')
      .exactOptional()
      .describe('Short for a gate `dataFlow` with its defaults, where the wave has none.'),
  })
  .describe('One group of collectors, upgraded before the next one starts.');

const wavesDefault = [
  { name: 'canary', size: '1 per stratum', soak: '30m', maxFailures: 0 },
  { name: 'early', size: '10%', soak: '1h', maxFailures: '1%' },
  { name: 'rest', size: '100%', soak: '0s', maxFailures: '2%' },
];

/** The waves in their order, never empty. */
export const WavesSchema = z
  .array(Wave)
  .min(1, 'is an empty list; give at least one wave, or remove the key for the default ones')
  .max(50)
  .check(uniqueNames('wave'))
  .check(wholeListCheck(checkWaves))
  .prefault(wavesDefault)
  .transform((waves) =>
    waves.map((wave, index): ReadWave => {
      return {
        name: wave.name,
        size: wave.size ?? { kind: 'percent', percent: 100 },
        ...(wave.match === undefined ? {} : { match: wave.match }),
        soakMs: wave.soak ?? soakDefault(index, waves.length),
        maxFailures: wave.maxFailures,
        approval: wave.approval,
        ...(wave.pace !== undefined && { pace: wave.pace }),
        ...(wave.windows !== undefined && { windows: wave.windows }),
        ...(wave.notBefore !== undefined && { notBefore: wave.notBefore }),
        gates:
          hasDataFlow(wave) || wave.dataFlow === undefined ? wave.gates : [...wave.gates, defaultDataFlow],
      };
    }),
  )
  .describe('The waves in their order, canary first. The last wave takes the remaining collectors.');

/** Its windows get the zone of the policy where they have none. */
type ReadWave = Omit<WaveRule, 'windows'> & { readonly windows?: readonly ReadWindow[] };

function soakDefault(index: number, waves: number): DurationMs {
  return index === waves - 1 ? 0 : 30 * 60_000;
}

function hasDataFlow({ gates }: { readonly gates: readonly GateRule[] }): boolean {
  return gates.some(({ kind }) => kind === 'dataFlow');
}

// Messages are counted from the end of the last upgrade, and become searchable within a minute.
const indexedWithinMs: DurationMs = 60_000;

/** A window longer than the soak would count messages of the old build. */
function checkDataFlow(wave: unknown, soakMs: DurationMs): string | undefined {
  const gates = partOf(wave, 'gates');
  const rules: unknown[] = Array.isArray(gates) ? gates : [];
  const dataFlowRule = rules.find((gate) => partOf(gate, 'kind') === 'dataFlow');
  const windowMs = Number(partOf(dataFlowRule ?? defaultDataFlow, 'windowMs'));
  if (dataFlowRule === undefined && partOf(wave, 'dataFlow') === undefined) return undefined;
  const leastMs = windowMs + indexedWithinMs;
  if (soakMs >= leastMs) return undefined;
  return `must be at least ${formatDuration(leastMs)}: dataFlow counts the messages of ${formatDuration(windowMs)} after the last upgrade`;
}

function checkWaves(waves: readonly unknown[], report: WholeReport): void {
  waves.forEach((wave, index) => {
    const problem = checkDataFlow(wave, Number(partOf(wave, 'soak') ?? soakDefault(index, waves.length)));
    if (problem !== undefined) report(problem, [index, 'soak']);
  });
  if (partOf(waves.at(-1), 'match') !== undefined) {
    report('the last wave takes the remaining collectors; remove match, or put a wave after it', [
      waves.length - 1,
      'match',
    ]);
  }
  const lastSize = partOf(waves.at(-1), 'size');
  // An invalid size has been reported already.
  if (partOf(lastSize, 'kind') !== undefined && partOf(lastSize, 'percent') !== 100) {
    report('the last wave takes the remaining collectors; leave size out, or put a wave after it', [
      waves.length - 1,
      'size',
    ]);
  }
  let percentBeforeLast = 0;
  waves.slice(0, -1).forEach((wave, index) => {
    // A wave with `match` takes all matching collectors unless it has a size, and their number is unknown here.
    if (typeof wave !== 'object' || wave === null || partOf(wave, 'match') !== undefined) return;
    const size = partOf(wave, 'size');
    if (size === undefined)
      report('is missing; only the last wave takes the remaining collectors', [index, 'size']);
    const percent = Number(partOf(size, 'percent') ?? 0);
    percentBeforeLast += percent;
    if (percent > 0 && percentBeforeLast >= 100 && percentBeforeLast - percent < 100) {
      report(
        `the waves up to here take ${percentBeforeLast}% of the plan, which leaves nothing for the next ones`,
        [index, 'size'],
      );
    }
  });
}

/**
 * A count of collectors such as `5`, or a share such as `"2%"`.
 */
function amount() {
  return sized('zero', parseAmount, 'must be a count such as 5, or a percentage such as "2%"').meta({
    bounds: '0 to 100%',
  });
}

/** How many collectors a wave takes: an amount above 0, or `1 per stratum`. */
function waveSize() {
  return sized(
    'aboveZero',
    (input) => parsePerStratum(input) ?? parseAmount(input),
    'must be a count such as 5, a percentage such as "2%", or "1 per stratum"',
  ).meta({ bounds: '1 collector to 100%' });
}

/** @param least the smallest count and percentage: a wave needs a member, a limit may be 0 */
function sized<Size extends WaveSize>(
  least: 'aboveZero' | 'zero',
  parse: (input: number | string) => Size | undefined,
  expected: string,
) {
  return z
    .union([z.number(), z.string()], { error: (issue) => (issue.input === undefined ? undefined : expected) })
    .transform((input, context): Size => {
      const parsed = parse(input);
      if (parsed === undefined) {
        const prefix = typeof input === 'string' ? `${quote(input)} is not an amount; it ` : '';
        context.addIssue(`${prefix}${expected}`);
        return z.NEVER;
      }
      const size = parsed.kind === 'percent' ? parsed.percent : parsed.count;
      const isTooSmall = size === 0 && least === 'aboveZero';
      const isTooLarge = parsed.kind === 'percent' && size > 100;
      if (!isTooSmall && !isTooLarge) return parsed;
      context.addIssue(isTooSmall ? 'must be more than 0' : 'must be at most 100%');
      return z.NEVER;
    });
}

function parsePerStratum(input: number | string): WaveSize | undefined {
  const count = /^(\d{1,9}) +per +stratum$/.exec(String(input).trim())?.[1];
  return count === undefined ? undefined : { kind: 'perStratum', count: Number(count) };
}

function parseAmount(input: number | string): Amount | undefined {
  const text = String(input).trim();
  if (/^\d{1,9}$/.test(text)) return { kind: 'count', count: Number(text) };
  const percent = /^(\d{1,9}(?:\.\d+)?) ?%$/.exec(text)?.[1];
  return percent === undefined ? undefined : { kind: 'percent', percent: Number(percent) };
}
