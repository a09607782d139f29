import type { Amount, WaveSize } from './policy.ts';

/** Members of a wave of this size: percents round up, and are never 0 while there is anyone (DESIGN §4, Waves). */
export function membersOf(amount: Amount, plannedCount: number): number {
  const wanted =
    amount.kind === 'count' ? amount.count : Math.max(1, Math.ceil(shareOf(plannedCount, amount.percent)));
  return Math.min(wanted, plannedCount);
}

/** Failures a wave may have without tripping: percents round down, so 5 % of 10 allows 0 (DESIGN §4, Failures). */
export function failuresAllowed(amount: Amount, waveSize: number): number {
  return amount.kind === 'count' ? amount.count : Math.floor(shareOf(waveSize, amount.percent));
}

/** As written in the config: `5`, `2%`, `1 per stratum`. */
export function formatAmount(amount: WaveSize): string {
  switch (amount.kind) {
    case 'count':
      return String(amount.count);
    case 'percent':
      return `${amount.percent}%`;
    default:
      return `${amount.count} per stratum`;
  }
}

// 0.57 % of 10,000 is 57 to a person and 56.99999999999999 to a float; no plan needs a twelfth digit.
function shareOf(count: number, percent: number): number {
  return Number(((count * percent) / 100).toPrecision(12));
}
