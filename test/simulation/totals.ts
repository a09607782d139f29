import type { NightReport } from './run-night.ts';

/** What many nights came to; plain data, so that a worker can send it. */
export interface Totals {
  nights: number;
  rollouts: number;
  ended: number;
  events: number;
  tasks: number;
  readonly faults: Record<string, number>;
  readonly checks: Record<string, number>;
  /** The first of each night that has any. */
  readonly violations: Array<{ readonly seed: number; readonly promise: string; readonly words: string }>;
  readonly estimateErrors: number[];
  /** In how many nights a pair met, by its name. */
  readonly met: Record<string, number>;
  /** What a night came to at most, as shares of the limits. */
  readonly most: Record<string, number>;
}

export function noTotals(): Totals {
  const counts = { nights: 0, rollouts: 0, ended: 0, events: 0, tasks: 0 };
  return { ...counts, faults: {}, checks: {}, violations: [], estimateErrors: [], met: {}, most: {} };
}

export function totalsOf(night: NightReport): Totals {
  const { seed, rollouts, ended, events, tasks, violations, estimateErrors } = night;
  return {
    ...{ nights: 1, rollouts, ended, events, tasks, estimateErrors: [...estimateErrors] },
    faults: Object.fromEntries(night.faults),
    checks: Object.fromEntries(night.checks),
    met: Object.fromEntries(night.met.map((name) => [name, 1])),
    most: Object.fromEntries(night.most),
    violations: violations.slice(0, 1).map(({ promise, words }) => ({ seed, promise, words })),
  };
}

export function addTotals(totals: Totals, more: Totals): void {
  for (const count of ['nights', 'rollouts', 'ended', 'events', 'tasks'] as const)
    totals[count] += more[count];
  for (const counts of ['faults', 'checks', 'met'] as const)
    for (const [kind, count] of Object.entries(more[counts]))
      totals[counts][kind] = (totals[counts][kind] ?? 0) + count;
  for (const [what, share] of Object.entries(more.most))
    totals.most[what] = Math.max(share, totals.most[what] ?? 0);
  totals.violations.push(...more.violations);
  totals.estimateErrors.push(...more.estimateErrors);
}

/** The report as lines. @param tookMs by the clock on the wall @param cpuMs of all processes */
export function describeTotals(
  totals: Totals,
  { tookMs, cpuMs }: { readonly tookMs: number; readonly cpuMs: number },
): readonly string[] {
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
      .map(([name, count]) => `${name} ${count}`)
      .join('  ');
  const errors = totals.estimateErrors.toSorted((a, b) => a - b);
  const at = (share: number) =>
    percent(errors[Math.min(errors.length - 1, Math.floor(errors.length * share))]);
  const perMinute = (ms: number) => Math.round((totals.rollouts / Math.max(1, ms)) * 60_000);
  return [
    `nights     ${totals.nights}`,
    `rollouts   ${totals.rollouts}, ${totals.ended} ended; ${totals.tasks} tasks; ${totals.events} events`,
    `faults     ${list(totals.faults)}`,
    `checked    ${list(totals.checks)}`,
    `speed      ${perMinute(tookMs)} rollouts a minute, ${perMinute(cpuMs)} for each core's minute`,
    `estimates  ${errors.length} rollouts: off by ${at(0.5)} (median), ${at(0.9)} (90th percentile)`,
    `limits     ${listShares(totals.most)}`,
    `violations ${totals.violations.length}`,
    ...totals.violations
      .toSorted((a, b) => a.promise.localeCompare(b.promise) || a.seed - b.seed)
      .map(({ seed, promise, words }) => `  seed ${seed}  ${promise}  ${words}`),
  ];
}

function listShares(most: Record<string, number>): string {
  return Object.entries(most)
    .toSorted(([, a], [, b]) => b - a)
    .map(([what, share]) => `${what} ${percent(share)}`)
    .join('  ');
}

function percent(share: number | undefined): string {
  return share === undefined ? '-' : `${Math.round(share * 100)} %`;
}
