import { z } from 'zod';
import type { PaceRule } from '../../rollout/model/policy.ts';
import { wholeCheck, wholeNumber } from './value-schemas.ts';

const perHourMax = 1_000_000;

/** How many upgrades may start in an hour. */
export const PaceSchema = z
  .strictObject({
    perHour: wholeNumber(1, perHourMax).describe('How many upgrades may start in an hour, evenly spread.'),
    from: wholeNumber(1, perHourMax)
      .exactOptional()
      .describe('How many start in an hour at first. The default is perHour.'),
    factor: z
      .number()
      .min(1)
      .max(100)
      .default(2)
      .describe(
        'The factor by which the pace grows after each `after` upgrades that succeeded, up to perHour.',
      ),
    after: wholeNumber(1, perHourMax)
      .default(50)
      .describe('After how many succeeded upgrades the pace grows. That of a wave counts those of the wave.'),
  })
  .check(
    wholeCheck(({ perHour, from }, report) => {
      if (typeof perHour === 'number' && typeof from === 'number' && from > perHour)
        report(`must be at most perHour; it is ${from}, perHour ${perHour}`, ['from']);
    }),
  )
  // Without a ramp its other keys mean nothing, so that they make no difference.
  .transform(
    ({ perHour, from = perHour, factor, after }): PaceRule =>
      from < perHour ? { perHour, from, factor, after } : { perHour, from, factor: 1, after: 1 },
  )
  .describe(
    'A limit of starts in time: for the bandwidth of a link, a licence server, or the mornings of a helpdesk.',
  );
