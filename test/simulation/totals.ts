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
}

export function noTotals(): Totals {
  return {
    nights: 0,
    rollouts: 0,
    ended: 0,
    events: 0,
    tasks: 0,
    faults: {},
    checks: {},
    violations: [],
    estimateErrors: [],
  };
}

export function addNight(totals: Totals, night: NightReport): void {
  totals.nights += 1;
  totals.rollouts += night.rollouts;
  totals.ended += night.ended;
  totals.events += night.events;
  totals.tasks += night.tasks;
  for (const [kind, count] of night.faults) totals.faults[kind] = (totals.faults[kind] ?? 0) + count;
  for (const [promise, count] of night.checks) totals.checks[promise] = (totals.checks[promise] ?? 0) + count;
  const [first] = night.violations;
  if (first !== undefined)
    totals.violations.push({ seed: night.seed, promise: first.promise, words: first.words });
  totals.estimateErrors.push(...night.estimateErrors);
}

export function addTotals(totals: Totals, more: Totals): void {
  totals.nights += more.nights;
  totals.rollouts += more.rollouts;
  totals.ended += more.ended;
  totals.events += more.events;
  totals.tasks += more.tasks;
  for (const [kind, count] of Object.entries(more.faults))
    totals.faults[kind] = (totals.faults[kind] ?? 0) + count;
  for (const [kind, count] of Object.entries(more.checks))
    totals.checks[kind] = (totals.checks[kind] ?? 0) + count;
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
    `violations ${totals.violations.length}`,
    ...totals.violations
      .toSorted((a, b) => a.promise.localeCompare(b.promise) || a.seed - b.seed)
      .map(({ seed, promise, words }) => `  seed ${seed}  ${promise}  ${words}`),
  ];
}

function percent(share: number | undefined): string {
  return share === undefined ? '-' : `${Math.round(share * 100)} %`;
}
