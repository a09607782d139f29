import { describe, expect, it } from 'vitest';
import {
  hintsMax,
  planReadings,
  type WatchedRollout,
} from '../../../../src/rollout/readings/reading-period.ts';
import { oldBuild, targetBuild } from '../../../support/builders.ts';

const seconds = 1_000;
const minutes = 60 * seconds;
const perSecond = { requestsPerSecond: 4 };

/** Of a rollout with a fleet of one page, where an upgrade takes five minutes and others wait for its slot. */
function aRolloutWith({
  running = 0,
  ends = running,
  ...changes
}: Partial<Omit<WatchedRollout, 'running'>> & {
  readonly running?: number;
  /** Expected within the usual duration. */
  readonly ends?: number;
} = {}): WatchedRollout {
  const { usualMs = 5 * minutes } = changes;
  return {
    running: new Map(running === 0 ? [] : [[targetBuild, { count: running, endsPerMs: ends / usualMs }]]),
    queued: 0,
    leaving: 0,
    verifying: 0,
    isSlotAwaited: true,
    fleetSize: 1_000,
    usualMs,
    ...changes,
  };
}

/** Seconds between two readings of each list. */
function periods(rollouts: readonly WatchedRollout[], requestsPerSecond = 4, pagesRead = 0) {
  const readings = planReadings(rollouts, { requestsPerSecond, pagesRead });
  const of = (list: 'upgradable' | 'inventory') => {
    const found = readings.find((reading) => reading.of === list);
    return found === undefined ? null : Math.round(found.periodMs / 100) / 10;
  };
  return { upgradable: of('upgradable'), inventory: of('inventory') };
}

describe('which lists are read, and how often', () => {
  it.each<[string, number, number | null]>([
    ['7.9 s at most, however few run', 10, 7.9],
    ['so often that pages cost as much as slots that idle', 200, 5.8],
    ['in proportion to the square root of the running upgrades', 450, 3.9],
    ['3 s at least, however many run', 5_000, 3],
    ['never when nothing runs', 0, null],
  ])('reads the upgradable list each %s, where others wait for slots', (_how, running, expected) => {
    expect(periods([aRolloutWith({ running, verifying: 1 })]).upgradable).toBe(expected);
  });

  it('reads the control list the more rarely the fewer ends are expected, and three times as rarely at most', () => {
    const seconds = (of: Parameters<typeof aRolloutWith>[0]) =>
      planReadings([aRolloutWith(of)], { ...perSecond, controlBuild: oldBuild }).flatMap((reading) =>
        reading.of === 'control' ? [Math.round(reading.periodMs / 100) / 10] : [],
      );
    const control = (ends: number) => seconds({ running: 200, ends });
    expect([control(200), control(50), control(0)].flat()).toEqual([5.8, 11.5, 17.3]);
    // As many as each half minute: all began at once.
    expect(control(900)).toEqual([3]);
    expect(seconds({ running: 3, ends: 0, isSlotAwaited: false })).toEqual([36]);
    expect(seconds({ running: 200, ends: 0, isSlotAwaited: false })).toEqual([25]);
    // The list of the target shows an end only while the collector restarts.
    expect(periods([aRolloutWith({ running: 200, ends: 0 })]).upgradable).toBe(5.8);
  });

  it('lets no slot idle longer for the sake of requests where the list has several pages', () => {
    expect(periods([aRolloutWith({ running: 100, fleetSize: 4_000 })])).toEqual({
      upgradable: 7.9,
      inventory: 15.8,
    });
  });

  it('reads it rarely while no upgrade waits for a slot, and often for the last upgrades of a wave', () => {
    expect(periods([aRolloutWith({ running: 10, isSlotAwaited: false })]).upgradable).toBe(25);
    const failing = aRolloutWith({ running: 10, isSlotAwaited: false, hasFailures: true });
    expect(periods([failing]).upgradable).toBeCloseTo(16.7);
    expect(periods([aRolloutWith({ running: 4, isSlotAwaited: false })]).upgradable).toBe(12);
    expect(periods([aRolloutWith({ running: 3, isSlotAwaited: false })]).upgradable).toBe(12);
    expect(periods([aRolloutWith({ running: 3 })]).upgradable).toBe(12);
  });

  it('reads the inventory half as often, and for collectors that return each 20 s', () => {
    expect(periods([aRolloutWith({ running: 10 })]).inventory).toBe(15.8);
    expect(periods([aRolloutWith({ verifying: 10 })]).inventory).toBe(20);
  });

  it('reads the inventory each 30 s at least, for creates that wait for their place and collectors that return', () => {
    const resting = { running: 11, isSlotAwaited: false, usualMs: 10 * minutes };
    expect(periods([aRolloutWith(resting)]).inventory).toBe(60);
    expect(periods([aRolloutWith({ ...resting, leaving: 1 })]).inventory).toBe(30);
    expect(periods([aRolloutWith({ ...resting, usualMs: 5 * minutes })]).inventory).toBe(30);
  });

  it('asks for a few polls alone while many creates wait for their place in the request rate', () => {
    const hints = (leaving: number) => hintsMax([aRolloutWith({ leaving })], 4, 20 * seconds);
    expect(hints(9)).toBe(Number.POSITIVE_INFINITY);
    expect(hints(10)).toBe(2);
    expect(hintsMax([aRolloutWith({ leaving: 10 })], 4, seconds)).toBe(1);
  });

  it('reads the inventory often while creates wait for a heartbeat', () => {
    expect(periods([aRolloutWith({ queued: 10 })]).inventory).toBe(3);
    expect(periods([aRolloutWith({ queued: 1, running: 10 })]).inventory).toBe(3);
  });

  it('reads one list where that of the control build shows all ends, and the inventory now and then', () => {
    const read = (changes: Parameters<typeof aRolloutWith>[0], controlBuild: string) =>
      planReadings([aRolloutWith(changes)], { ...perSecond, controlBuild }).map(({ of, periodMs }) => [
        of,
        Math.round(periodMs / seconds),
      ]);
    expect(read({ running: 450, verifying: 9 }, oldBuild)).toEqual([
      ['control', 4],
      ['inventory', 300],
    ]);
    expect(read({ verifying: 9 }, oldBuild)[0]).toEqual(['control', 20]);
    // It shows heartbeats and candidates, too.
    expect(read({ running: 9, queued: 1 }, oldBuild)[0]).toEqual(['control', 3]);
    // With another list in turn, each of the two is read within a tenth.
    const inTurn = { ...perSecond, controlBuild: oldBuild, isReadInTurn: true };
    const resting = aRolloutWith({ running: 100, isSlotAwaited: false });
    expect(planReadings([resting], inTurn)[0]).toMatchObject({ of: 'control', periodMs: 10_000 });
    // Nobody who goes there is on it when back.
    expect(read({ running: 450 }, targetBuild)[0]).toEqual(['upgradable', 4]);
  });

  it('polls each task where fewer run than a list has pages: as often, but for a quarter of the requests', () => {
    const read = (of: Parameters<typeof aRolloutWith>[0]) =>
      planReadings([aRolloutWith({ fleetSize: 10_000, ...of })], perSecond);
    expect(read({ running: 5 })).toEqual([{ of: 'tasks', periodMs: 7_895 }]);
    expect(read({ running: 8 })).toEqual([{ of: 'tasks', periodMs: 8_000 }]);
    expect(read({ running: 9, isSlotAwaited: false })).toEqual([{ of: 'tasks', periodMs: 25_000 }]);
    expect(read({ running: 1, isSlotAwaited: false })).toEqual([{ of: 'tasks', periodMs: 12_000 }]);
    expect(read({ running: 10 })).toMatchObject([{ of: 'upgradable' }, { of: 'inventory' }]);
    expect(read({ verifying: 9 })).toEqual([]);
  });

  it('reads nothing while nothing runs, or a service gives so few collectors a page that single polls cost less', () => {
    expect(planReadings([aRolloutWith()], perSecond)).toEqual([]);
    expect(planReadings([aRolloutWith({ running: 40 })], { ...perSecond, pagesRead: 53 })).toEqual([]);
  });

  it('reads small pages more rarely, unless they replace as many polls before creates', () => {
    const read = (of: Parameters<typeof aRolloutWith>[0]) =>
      planReadings([aRolloutWith(of)], { ...perSecond, controlBuild: oldBuild, pagesRead: 11 }).map(
        ({ of, periodMs }) => [of, Math.round(periodMs / seconds)],
      );
    expect(read({ running: 50 })).toEqual([
      ['control', 71],
      ['inventory', 1_200],
    ]);
    expect(read({ running: 50, isSlotAwaited: false })[0]).toEqual(['control', 71]);
    expect(read({ running: 20, isSlotAwaited: false })[0]).toEqual(['control', 150]);
    expect(read({ running: 20, leaving: 10 })[0]).toEqual(['control', 75]);
    expect(read({ running: 20, leaving: 11 })[0]).toEqual(['control', 30]);
    expect(read({ running: 20, leaving: 11, queued: 11 })[0]).toEqual(['control', 18]);
  });

  it('takes no more than a quarter of the requests, however large the fleet is', () => {
    const { upgradable, inventory } = periods([aRolloutWith({ running: 4_000, fleetSize: 100_000 })]);
    expect(100 / (upgradable ?? 0) + 100 / (inventory ?? 0)).toBeCloseTo(1);
    const faster = periods([aRolloutWith({ running: 4_000, fleetSize: 100_000 })], 40);
    expect(faster.upgradable).toBeLessThan((upgradable ?? 0) / 5);
  });

  it('goes at the pace of the shortest upgrades, of rollouts that watch something', () => {
    const slow = aRolloutWith({ running: 10 });
    expect(periods([slow, aRolloutWith({ running: 10, usualMs: minutes })]).upgradable).toBe(1.6);
    expect(periods([slow, aRolloutWith({ usualMs: minutes, fleetSize: 50_000 })]).upgradable).toBe(7.9);
  });

  it('reads the lists of a rollback only for builds that several go back to', () => {
    const running = new Map([
      ['19.1-1', { count: 3, endsPerMs: 3 / minutes }],
      ['19.2-1', { count: 4, endsPerMs: 4 / minutes }],
    ]);
    const readings = planReadings([{ ...aRolloutWith(), running }], perSecond);
    expect(readings.map((reading) => (reading.of === 'upgradable' ? reading.toBuild : reading.of))).toEqual([
      '19.2-1',
      'inventory',
    ]);
  });
});
