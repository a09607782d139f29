import { goals } from '../goals.ts';
import type { Contest } from './contest.ts';

// Above 20 times, what our own machine takes for a request begins to show.
const speed = 20;

// field-facts.md, Upgrades.
const realistic = { durations: { median: '5m', p95: '17m', max: '29m' }, expectMs: 5 * 60_000 };

const quick = { durations: { median: '50s', p95: '70s', max: '90s' }, expectMs: 50_000 };

export type ContestName = 'slots' | 'slots-10000' | 'slots-mixed' | 'rate' | 'rate-jitter';

export const fullContests: Readonly<Record<ContestName, Contest>> = {
  slots: { binds: 'slots', collectors: 1_000, slots: 100, speed, ...realistic, overMax: goals.overGreedy },
  'slots-10000': {
    binds: 'slots',
    collectors: 10_000,
    slots: 100,
    speed,
    ...realistic,
    overMax: goals.overGreedyLarge,
  },
  'slots-mixed': {
    ...{ binds: 'slots', collectors: 600, slots: 60, speed, overMax: goals.overWorkMixed },
    ...{ durations: { median: '4m', p95: '6m', max: '29m' }, expectMs: 4 * 60_000, slowTimes: 3 },
  },
  rate: { binds: 'rate', collectors: 1_000, slots: 1_000, speed, ...realistic, overMax: goals.overBound },
  'rate-jitter': {
    ...{ binds: 'rate', collectors: 1_000, slots: 1_000, ...realistic, overMax: goals.overBound },
    // Faster, what the machine takes for a request would be more than the jitter.
    ...{ speed: 1, jitterMs: 20 },
  },
};

/** For CI: the same kinds of work with a small and quick fleet, so that its figures are coarse. */
export const shortContests: Readonly<Record<ContestName, Contest>> = {
  slots: { ...fullContests.slots, collectors: 40, slots: 10, ...quick },
  'slots-10000': { ...fullContests['slots-10000'], collectors: 100, slots: 10, ...quick },
  'slots-mixed': { ...fullContests['slots-mixed'], collectors: 60, slots: 10, ...quick },
  rate: { ...fullContests.rate, collectors: 200, slots: 200, ...quick },
  'rate-jitter': { ...fullContests['rate-jitter'], collectors: 200, slots: 200, ...quick },
};
