import { z } from 'zod';
import type { WaveRule } from '../rollout/policy.ts';
import { reportRepeatedNames } from './repeated-names.ts';
import { amount, duration, shortName } from './value-schemas.ts';

const Wave = z
  .strictObject({
    name: shortName().describe('What the wave is called; unique in the policy.'),
    size: amount('aboveZero')
      .exactOptional()
      .describe(
        'How many collectors: a count, or a percentage of the plan, rounded up. The last wave takes what is left.',
      ),
    soak: duration('0s')
      .exactOptional()
      .describe(
        "How long the wave's collectors must stay healthy before the next wave starts. Default: 30m, in the last wave 0s.",
      ),
    maxFailures: amount('zero')
      .prefault('1%')
      .describe(
        'How many failures stop the rollout if exceeded: a count, or a percentage of the wave, rounded down.',
      ),
  })
  .describe('One group of collectors, upgraded before the next one starts.');

const wavesDefault = [
  { name: 'canary', size: '1%', soak: '30m', maxFailures: 0 },
  { name: 'early', size: '10%', soak: '1h', maxFailures: '1%' },
  { name: 'rest', size: '100%', soak: '0s', maxFailures: '2%' },
];

/** The waves in their order, never empty. */
export const WavesSchema = z
  .array(Wave)
  .min(1, 'is an empty list; give at least one wave, or remove the key for the default ones')
  .max(50)
  .check(
    z.superRefine<unknown>(
      (waves, context) =>
        checkWaves(waves, (message, path) => context.addIssue({ code: 'custom', message, path })),
      {
        when: () => true,
      },
    ),
  )
  .prefault(wavesDefault)
  .transform((waves) =>
    waves.map((wave, index): WaveRule => {
      const isLast = index === waves.length - 1;
      return {
        name: wave.name,
        size: wave.size ?? { kind: 'percent', percent: 100 },
        soakMs: wave.soak ?? (isLast ? 0 : 30 * 60_000),
        maxFailures: wave.maxFailures,
      };
    }),
  )
  .describe('The waves in their order, canary first; the last one takes what is left.');

function checkWaves(waves: unknown, report: (message: string, path: PropertyKey[]) => void): void {
  if (!Array.isArray(waves)) return;
  reportRepeatedNames(waves, 'wave', report);
  let percentBeforeLast = 0;
  waves.slice(0, -1).forEach((wave: unknown, index) => {
    if (typeof wave !== 'object' || wave === null) return;
    const size: unknown = 'size' in wave ? wave.size : undefined;
    if (size === undefined) report('is missing; only the last wave takes what is left', [index, 'size']);
    const percent = typeof size === 'object' && size !== null && 'percent' in size ? Number(size.percent) : 0;
    percentBeforeLast += percent;
    if (percent > 0 && percentBeforeLast >= 100 && percentBeforeLast - percent < 100) {
      report(
        `the waves up to here take ${percentBeforeLast}% of the plan, which leaves nothing for the next ones`,
        [index, 'size'],
      );
    }
  });
}
