import { describe, expect, it } from 'vitest';
import { drawNight } from '../../bench/night/draw-night.ts';
import { findBrokenInNight } from '../../bench/night/judge-night.ts';
import type { Night } from '../../bench/night/run-night.ts';
import { isOutside, windowsOf } from '../../bench/night/windows.ts';
import { aRolloutStatus } from '../../support/fake-operations.ts';

const limits = { accounts: 1, slots: 10 };
const collectorIds = [1, 2, 3];

function aNight(creates: readonly number[] = collectorIds, changes: Partial<Night> = {}) {
  const counts = new Map<number, number>();
  for (const id of creates) counts.set(id, (counts.get(id) ?? 0) + 1);
  return {
    collectors: collectorIds.length,
    holds: [],
    statuses: [aRolloutStatus({ state: 'succeeded' })],
    record: {
      ...{ creates: [], needlessCreates: 0, tasksInFlight: 0, tasksInFlightMax: 3, requests: {}, faults: {} },
      createsPerCollector: Object.fromEntries(counts),
      throttled: { rate: 0, concurrency: 0, fault: 0 },
      refusedCreates: {},
      signIns: { accepted: 1, wrongKey: 0, throttled: 0 },
      ...{ requestsInOneSecondMax: 1, concurrentRequestsMax: 1 },
    },
    ...changes,
  };
}

describe('the judge of a night at size', () => {
  it('finds nothing where each collector got one task', () => {
    expect(findBrokenInNight(aNight(), limits)).toEqual([]);
  });

  it.each([
    ['a second task', aNight([1, 2, 3, 3]), '1 collectors got a second task, first 3'],
    ['a collector without a task', aNight([1, 2]), '2 of 3 collectors got a task'],
    ['a hold', aNight(collectorIds, { holds: ['bench-a0: rollout.held'] }), 'bench-a0: rollout.held'],
    ['a rollout that is missing', aNight(collectorIds, { statuses: [] }), '0 of 1 rollouts'],
  ])('finds %s', (_what, night, broken) => {
    expect(findBrokenInNight(night, limits)).toEqual([broken]);
  });

  it('finds a rollout that did not succeed', () => {
    const statuses = [aRolloutStatus({ id: 'bench-1', state: 'finishedWithFailures', reason: 'one failed' })];
    const broken = findBrokenInNight(aNight(collectorIds, { statuses }), limits);
    expect(broken).toEqual(['bench-1 is finishedWithFailures: one failed']);
  });
});

describe('what a night at size shows', () => {
  const usage = { cpuSeconds: 1, rssBytes: 2 ** 27, rssPeakBytes: 2 ** 27 };
  const usages = {
    'daemon 1': usage,
    'daemon 2': null,
    'Redis 1': usage,
    'Redis 2': usage,
    service: usage,
  };
  const watched = {
    samples: [0, 10, 20, 30].map((at) => ({ at, ended: at, usages })),
    reads: [
      { name: 'status', at: 5, takenMs: 7 },
      { name: 'status', at: 12, takenMs: null },
      { name: 'status', at: 25, takenMs: 9 },
    ],
    lags: [{ daemon: 'daemon 1', at: 20, p99Ms: 3 }],
  } as const;
  const faults = [{ name: 'leader killed', from: 12, to: 14 }];

  it('gives each ten seconds their answers, and the lag that the scrape after them showed', () => {
    expect(windowsOf(watched)).toEqual([
      { from: 0, readsP95Ms: 7, lagP99Ms: Number.NaN },
      { from: 10, readsP95Ms: Number.NaN, lagP99Ms: 3 },
      { from: 20, readsP95Ms: 9, lagP99Ms: Number.NaN },
    ]);
  });

  it('leaves out the windows with any of the ten seconds after a fault', () => {
    const windows = [0, 10, 20, 30].map((from) => ({ from }));
    expect(windows.filter(isOutside(faults))).toEqual([{ from: 0 }, { from: 30 }]);
  });

  it('is drawn with a line for each fault, and without a figure that is no number', () => {
    const svg = drawNight({ ...watched, faults });
    expect(svg).toContain('leader killed');
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });
});
