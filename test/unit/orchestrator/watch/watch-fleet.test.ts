import { describe, expect, it } from 'vitest';
import type { FleetService } from '../../../../src/orchestrator/ports/fleet-service.ts';
import { makeControlList } from '../../../../src/orchestrator/watch/control-list.ts';
import { makeObservations } from '../../../../src/orchestrator/watch/observations.ts';
import { watchFleet } from '../../../../src/orchestrator/watch/watch-fleet.ts';
import type { FleetCollector } from '../../../../src/rollout/model/collector.ts';
import { dueAtOf, type Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import {
  aCollector,
  anApiBudgetStatus,
  anUpgrade,
  anUpgradingOne,
  aPolicy,
  aRollout,
  oldBuild,
  startedAt,
  targetBuild,
} from '../../../support/builders.ts';
import { aHouse, away, over } from '../../../support/house.ts';
import { saveUpgrade } from '../../../support/store/store-changes.ts';
import { aDeferredOne, aVerifyingOne } from '../../../support/upgrade-cases.ts';

const seconds = 1_000;
const minutes = 60 * seconds;
/** When the watch begins; upgrades have run since the start. */
const t = startedAt + 4 * minutes;

interface Watching {
  readonly shows?: (id: number, at: number) => Partial<FleetCollector>;
  /** Which collectors the upgradable list of the target has, and that of the control build. */
  readonly offers?: (at: number) => readonly number[];
  readonly listed?: (at: number) => readonly number[];
  /** Whether these lists keep their order. */
  readonly isInOrder?: boolean;
  /** Collectors of others that run the target. */
  readonly returned?: readonly number[];
  /** How many readings of the inventory fail before one works. */
  readonly failures?: number;
  readonly upgrades?: (id: number) => Upgrade | undefined;
  readonly fleetSize?: number;
  readonly expectMs?: number;
}

/** The watch over four collectors in two pages, all of which run and are due for a poll in ten seconds. */
async function aWatch({
  shows = () => ({}),
  offers = () => [],
  listed = () => [],
  isInOrder = true,
  returned = [],
  failures = 0,
  upgrades = () => undefined,
  fleetSize = 4,
  expectMs = 5 * minutes,
}: Watching = {}) {
  const readings: number[] = [];
  const listReadings: { readonly toBuild: string; readonly at: number }[] = [];
  const broughtForward: number[] = [];
  const rests: number[] = [];
  const during = { page: async () => {}, rest: () => {} };
  const house = await aHouse({
    rollout: aRollout({
      plan: { fleetSize },
      policy: aPolicy({ upgrade: { deadlineMs: 35 * minutes, verifyWithinMs: 10 * minutes, expectMs } }),
    }),
    upgrades: [1, 2, 3, 4].map((id) => {
      const upgrade = upgrades(id) ?? anUpgradingOne({ dueAt: t + 10 * seconds });
      return { ...upgrade, identity: { ...upgrade.identity, collectorId: id, order: id } };
    }),
  });
  const { clock, parts } = house;
  clock.at = t;
  const rowOf = (id: number) => {
    const lastSeenAlive = clock.at - 5 * seconds;
    return aCollector({ id, build: oldBuild, lastSeenAlive, ...shows(id, clock.at) });
  };
  const readInventory: FleetService['readInventory'] = async (onPage) => {
    readings.push(clock.at);
    if (readings.length <= failures) return { ok: false, failure: away };
    const others = returned.map((id) => ({ ...rowOf(id), build: targetBuild }));
    const pages = [[1, 2].map(rowOf), [...[3, 4].map(rowOf), ...others]];
    for (const collectors of pages) {
      await during.page();
      await onPage?.({ collectors, serviceAt: clock.at });
    }
    return { ok: true, value: { readAt: clock.at, serviceAt: clock.at, collectors: pages.flat() } };
  };
  const readUpgradable: FleetService['readUpgradable'] = async (toBuild, onPage) => {
    listReadings.push({ toBuild, at: clock.at });
    const ids = toBuild === targetBuild ? offers(clock.at) : listed(clock.at);
    const buildOf = (id: number) => (returned.includes(id) ? { build: targetBuild } : {});
    const collectors = ids.map((id) => ({ ...rowOf(id), ...buildOf(id) }));
    await onPage({ collectors, serviceAt: clock.at });
    return { ok: true, value: { pages: 1, isInOrder } };
  };
  const own = {
    ...parts,
    fleet: { ...parts.fleet, readInventory, readUpgradable },
    queue: {
      ...parts.queue,
      bringForward: async (_rolloutId: string, ids: readonly number[]) => void broughtForward.push(...ids),
    },
    observations: makeObservations(),
    readApiBudgetStatus: async () => anApiBudgetStatus({ requestsPerSecondNow: 4 }),
    sleep: async (forMs: number) => {
      rests.push(forMs);
      clock.at += forMs;
      during.rest();
    },
  };
  /** Stops the watch when it has rested so often. */
  const stopAfter = (count: number) => {
    const stop = new AbortController();
    during.rest = () => {
      if (rests.length >= count) stop.abort();
    };
    return stop.signal;
  };
  /** Leads for so many readings. */
  const run = (count: number, signal = new AbortController().signal) =>
    watchFleet(own, () => readings.length < count, signal);
  return { ...house, readings, listReadings, broughtForward, rests, during, run, stopAfter };
}

describe('watching by pages of the inventory', () => {
  it('postpones the polls of unchanged collectors by two periods, and polls changed ones at once', async () => {
    const { run, upgrade, broughtForward, reported } = await aWatch({
      shows: (id) => (id === 3 ? { build: targetBuild } : {}),
    });
    await run(1);
    expect((await upgrade(1)).progress).toMatchObject({ state: 'upgrading', unchangedAt: t });
    expect(dueAtOf(await upgrade(1))).toBeGreaterThan(t + 30 * seconds);
    expect((await upgrade(3)).progress).toMatchObject({ state: 'upgrading', dueAt: t, polledAt: startedAt });
    expect(broughtForward).toEqual([3]);
    expect(reported).toEqual([]);
  });

  it('verifies an upgrade by a row, and ends the wait of a deferred collector (P10)', async () => {
    const dueAt = t + minutes;
    const verifying = aVerifyingOne({ verifyBy: t + 11 * minutes, dueAt, endedServiceAt: t - minutes });
    const deferred = aDeferredOne({ dueAt });
    const { run, stateOf, broughtForward, reported } = await aWatch({
      shows: (id, at) => (id === 1 ? { build: targetBuild, lastSeenAlive: at } : {}),
      upgrades: (id) => ({ 1: verifying, 2: deferred })[id],
    });
    await run(1);
    expect([await stateOf(1), await stateOf(2)]).toEqual(['succeeded', 'retrying']);
    // So that their jobs, which wait for later, end.
    expect(broughtForward).toEqual([1, 2]);
    expect(reported).toEqual(['upgrade.succeeded', 'upgrade.retrying']);
  });

  it('ignores a row when the record has changed since the page was requested', async () => {
    const { run, upgrade, store, during } = await aWatch({ shows: () => ({ build: targetBuild }) });
    const { progress } = anUpgradingOne({ dueAt: t + 90 * seconds, polledAt: t });
    during.page = async () => {
      const before = await upgrade(1);
      if (before.rev > 1) return;
      await saveUpgrade(store, { before, after: { ...before, progress, rev: 2 }, events: [] });
    };
    await run(1);
    expect(await upgrade(1)).toMatchObject({ rev: 2, progress: { dueAt: t + 90 * seconds, polledAt: t } });
  });

  it('polls the tasks of collectors that are upgradable again: they failed, or restart', async () => {
    const { run, upgrade, listReadings, broughtForward } = await aWatch({
      offers: () => [2, 99],
      upgrades: () => anUpgradingOne({ dueAt: t + 5 * minutes }),
    });
    await run(2);
    expect(listReadings[0]?.toBuild).toBe(targetBuild);
    expect(listReadings[0]?.at).toBeGreaterThan(t);
    expect(broughtForward).toEqual([2]);
    expect((await upgrade(2)).progress).toMatchObject({ state: 'upgrading', dueAt: listReadings[0]?.at });
    expect((await upgrade(1)).progress).toMatchObject({ dueAt: t + 5 * minutes });
  });

  it('polls running tasks one by one, and reads no list, where there are fewer tasks than pages', async () => {
    const { readings, listReadings, broughtForward, stopAfter, run, register } = await aWatch({
      fleetSize: 5_000,
      upgrades: (id) => anUpgradingOne({ dueAt: t + 90 * seconds, polledAt: id === 1 ? t : startedAt }),
    });
    await register.firstSeen([oldBuild, targetBuild, '19.400-1'], t);
    await run(1, stopAfter(1));
    expect(broughtForward).toEqual([2, 3, 4]);
    expect([readings, listReadings]).toEqual([[], []]);
  });

  it('looks for new upgrades and last ends every five seconds, and more often for quick upgrades', async () => {
    const usual = await aWatch();
    await usual.run(9, usual.stopAfter(4));
    expect(Math.max(...usual.rests)).toBe(5 * seconds);
    const quick = await aWatch({ expectMs: 30 * seconds });
    await quick.run(9, quick.stopAfter(4));
    expect(Math.max(...quick.rests)).toBeLessThan(seconds);
  });

  it('reads nothing and ends at once when there is nothing to watch', async () => {
    const { run, readings, rests } = await aWatch({ upgrades: () => anUpgrade({ state: 'pending' }) });
    expect(await run(9)).toBe('done');
    expect([readings, rests]).toEqual([[], []]);
  });

  it('reads nothing when another daemon leads, or the daemon stops', async () => {
    const { run, readings } = await aWatch();
    await run(0);
    await run(9, AbortSignal.abort());
    expect(readings).toEqual([]);
  });

  it('reads less and less often while reading fails, reports it once, and returns to its pace after a success', async () => {
    const { run, readings, notes } = await aWatch({
      failures: 6,
      upgrades: () => aVerifyingOne({ verifyBy: t + 24 * 60 * minutes, dueAt: t + 24 * 60 * minutes }),
    });
    await run(9);
    const gaps = readings.slice(1).map((at, index) => (at - (readings[index] ?? 0)) / seconds);
    expect(gaps).toEqual([40, 80, 160, 320, 320, 320, 20, 20]);
    expect(notes).toMatchObject([{ event: 'poll.failed', reason: expect.stringContaining('HTTP 503') }]);
  });
});

describe('watching by the control list', () => {
  const others = [11, 12, 13, 14, 15];
  const controlBuild = '19.400-1';
  const aControlWatch = async (watching: Watching) => {
    const made = await aWatch({
      ...watching,
      returned: others,
      upgrades: (id) => watching.upgrades?.(id) ?? anUpgradingOne({ dueAt: t + 25 * seconds }),
    });
    await made.register.firstSeen([oldBuild, targetBuild, controlBuild], t);
    return made;
  };

  it('reads it instead of the other lists once it has shown upgraded collectors, and postpones polls', async () => {
    const { run, listReadings, upgrade, broughtForward } = await aControlWatch({
      listed: () => (listReadings.length < 3 ? others : [...others, 2]),
    });
    await run(2);
    expect(new Set(listReadings.map(({ toBuild }) => toBuild))).toEqual(new Set([controlBuild]));
    expect(listReadings.length).toBeGreaterThan(9);
    expect(broughtForward[0]).toBe(2);
    // When it was last known to run, for the delay that metrics show.
    expect((await upgrade(2)).progress).toMatchObject({
      ...{ state: 'upgrading', dueAt: listReadings[2]?.at },
      unchangedAt: listReadings[1]?.at,
    });
    const { progress } = await upgrade(1);
    expect(progress.state === 'upgrading' && progress.dueAt).toBeGreaterThan(t + 5 * minutes);
  });

  it('postpones the poll of a create that waits for a heartbeat once: no list may ever show one (P11)', async () => {
    const dueAt = t + 25 * seconds;
    const waiting = { dueAt, freshAt: startedAt, heartbeatAfter: startedAt, startBy: null };
    const { run, upgrade } = await aControlWatch({
      listed: () => others,
      shows: (id) => (id === 1 ? { alive: false, lastSeenAlive: startedAt - minutes } : {}),
      upgrades: (id) => (id === 1 ? anUpgrade({ state: 'queued', ...waiting }) : undefined),
    });
    await run(2);
    const waitedMs = (dueAtOf(await upgrade(1)) ?? 0) - dueAt;
    expect(waitedMs).toBeGreaterThan(0);
    expect(waitedMs).toBeLessThan(minutes);
  });

  it('postpones no poll by a list without a stable order, which may lack any row', async () => {
    const dueAfter = async (isInOrder: boolean) => {
      const { run, upgrade } = await aControlWatch({ listed: () => others, isInOrder });
      await run(2);
      return dueAtOf(await upgrade(1)) ?? 0;
    };
    expect(await dueAfter(true)).toBeGreaterThan(t + 5 * minutes);
    expect(await dueAfter(false)).toBeLessThan(t + 5 * minutes);
  });

  it('reads the list of the target where the service lists no downgrades', async () => {
    const { run, listReadings, readings } = await aControlWatch({ listed: () => [] });
    await run(3);
    expect(listReadings[0]?.toBuild).toBe(controlBuild);
    expect(new Set(listReadings.slice(1).map(({ toBuild }) => toBuild))).toEqual(new Set([targetBuild]));
    expect(readings).toHaveLength(3);
  });

  it('is not tried once so few upgrades run that their tasks are polled one by one', async () => {
    const { run, stopAfter, during, upgrade, store, listReadings, readings } = await aControlWatch({
      fleetSize: 2_500,
    });
    during.page = async () => {
      for (const id of [1, 2]) {
        const before = await upgrade(id);
        const after = { ...before, progress: over('succeeded'), rev: before.rev + 1 };
        if (before.progress.state === 'upgrading') await saveUpgrade(store, { before, after, events: [] });
      }
    };
    await run(9, stopAfter(1));
    expect(readings).toHaveLength(1);
    expect(listReadings).toEqual([]);
  });

  it('reads the list of the target in turn, which shows failed collectors that came from the control build', async () => {
    const { run, upgrade, register, broughtForward, listReadings } = await aControlWatch({
      listed: () => others,
      offers: () => [3],
    });
    await register.firstSeen([oldBuild, targetBuild], t);
    await run(2);
    const [first, second, third] = listReadings.map(({ toBuild }) => toBuild);
    expect([first, second, third]).toEqual([oldBuild, targetBuild, oldBuild]);
    expect(broughtForward[0]).toBe(3);
    // One of the two lists will show its end.
    expect(dueAtOf(await upgrade(1))).toBeGreaterThan(t + 5 * minutes);
  });

  it('replaces a build that is read in turn when the service refuses it', async () => {
    const { register } = await aHouse();
    const withdrawn = '19.399-1';
    await register.firstSeen([oldBuild, targetBuild, withdrawn], t);
    const control = makeControlList(register);
    const upgrade = anUpgradingOne();
    const watched = {
      rollouts: [],
      loads: [],
      byCollector: new Map([[1, [{ rollout: aRollout(), upgrade }]]]),
    };
    control.noteInventory({ returned: 5, collectorsOn: new Map([[withdrawn, 9]]) });
    await control.choose(watched);
    control.noteListed(oldBuild, 5);
    expect(control.inTurnWith(watched)).toBe(withdrawn);
    control.noteListed(withdrawn, undefined);
    expect([control.whole(), control.inTurnWith(watched)]).toEqual([oldBuild, targetBuild]);
  });
});
