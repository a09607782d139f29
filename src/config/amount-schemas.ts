import { z } from 'zod';
import type { Amount, WaveSize } from '../rollout/policy.ts';
import { quote } from './config-error.ts';

/**
 * A count of collectors such as `5`, or a share such as `"2%"`.
 * @param least the smallest count and percentage: a wave needs someone in it, a bound may be 0
 */
export function amount(least: 'aboveZero' | 'zero') {
  return sized(least, parseAmount, 'must be a count such as 5, or a percentage such as "2%"');
}

/** How many collectors a wave takes: an amount above 0, or `1 per stratum`. */
export function waveSize() {
  return sized(
    'aboveZero',
    (input) => parsePerStratum(input) ?? parseAmount(input),
    'must be a count such as 5, a percentage such as "2%", or "1 per stratum"',
  );
}

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
        const shown = typeof input === 'string' ? `${quote(input)} is no amount; it ` : '';
        context.addIssue(`${shown}${expected}`);
        return z.NEVER;
      }
      const size = parsed.kind === 'percent' ? parsed.percent : parsed.count;
      if (size === 0 && least === 'aboveZero') context.addIssue('must be more than 0');
      if (parsed.kind === 'percent' && size > 100) context.addIssue('must be at most 100%');
      return parsed;
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
