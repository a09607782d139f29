import type { Contest } from './contest.ts';

// A hundred times as fast as a real service: more, and what our own machine takes for a request begins to show.
const speed = 100;

// Quick upgrades, so that the request rate is the limit and not the slowest upgrade.
const quick = { durations: { median: '50s', p95: '70s', max: '90s' }, expectMs: 50_000 };

/** Under four minutes on two cores. */
export const fullContests: readonly Contest[] = [
  {
    binds: 'slots',
    collectors: 280,
    slots: 40,
    speed,
    durations: { median: '5m', p95: '17m', max: '29m' },
    expectMs: 5 * 60_000,
  },
  // 40 requests a second: at many more, a busy machine would be the limit.
  { binds: 'rate', collectors: 300, slots: 300, speed: speed / 10, ...quick },
];
export const fullPlans = [10_000, 100_000] as const;

/** Under 40 seconds, for CI: the same kinds of work with a small and quick fleet, so that its figures are coarse. */
export const shortContests: readonly Contest[] = [
  { binds: 'slots', collectors: 40, slots: 10, speed, ...quick },
  { binds: 'rate', collectors: 200, slots: 200, speed: speed / 2, ...quick },
];
export const shortPlans = [10_000] as const;
