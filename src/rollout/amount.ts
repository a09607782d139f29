import type { Amount, WaveSize } from './policy.ts';

/** Members of a wave of this size: percents round up, and are never 0 while there is anyone (DESIGN §4, Waves). */
export function membersOf(amount: Amount, plannedCount: number): number {
  const wanted =
    amount.kind === 'count' ? amount.count : Math.max(1, Math.ceil((plannedCount * amount.percent) / 100));
  return Math.min(wanted, plannedCount);
}

/** Failures a wave may have without tripping: percents round down, so 5 % of 10 allows 0 (DESIGN §4, Failures). */
export function failuresAllowed(amount: Amount, waveSize: number): number {
  return amount.kind === 'count' ? amount.count : Math.floor((waveSize * amount.percent) / 100);
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
