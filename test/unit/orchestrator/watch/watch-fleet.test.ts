import { describe, expect, it } from 'vitest';
import type { DaemonNote } from '../../../../src/orchestrator/ports/event-sink.ts';
import type {
  Answer,
  FleetService,
  InventoryPage,
} from '../../../../src/orchestrator/ports/fleet-service.ts';
import { makeObservations } from '../../../../src/orchestrator/watch/observations.ts';
import { type WatchParts, watch } from '../../../../src/orchestrator/watch/watch-fleet.ts';
import type { FleetCollector } from '../../../../src/rollout/model/collector.ts';
import type { RolloutEvent } from '../../../../src/rollout/model/events.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import {
  aCollector,
  anUpgrade,
  anUpgradingOne,
  aPolicy,
  aRollout,
  because,
  oldBuild,
  someGroups,
  startedAt as t,
  targetBuild,
} from '../../../support/builders.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';

const seconds = 1_000;

type Shown = (id: number, at: number) => Partial<FleetCollector>;

/** Four collectors in two pages, and the watch over them on a clock that only its own waits move. */
function aWatch(
  shows: Shown = () => ({}),
  failsAt: (reading: number, page: number) => boolean = () => false,
) {
  const store = makeMemoryRolloutStore();
  const readings: number[] = [];
  const broughtForward: string[] = [];
  const told: RolloutEvent['event'][] = [];
  const notes: DaemonNote[] = [];
  const rests: number[] = [];
  let now = t + 4 * 60 * seconds;
  let between: () => Promise<void> = async () => {};
  const rowOf = (id: number) => {
    const lastSeenAlive = now - 5 * seconds;
    return aCollector({ id, build: oldBuild, lastSeenAlive, ...shows(id, now) });
  };
  const readInventory: FleetService['readInventory'] = async (onPage) => {
    readings.push(now);
    for (const [page, ids] of [
      [1, 2],
      [3, 4],
    ].entries()) {
      if (failsAt(readings.length, page)) return unavailable;
      const shown: InventoryPage = { collectors: ids.map(rowOf), serviceAt: now };
      await between();
      await onPage?.(shown);
    }
    return { ok: true, value: { readAt: now, serviceAt: now, collectors: [1, 2, 3, 4].map(rowOf) } };
  };
  const observations = makeObservations();
  const parts: WatchParts = {
    store,
    register: makeMemoryFleetRegister(),
    // Nothing else of the service is asked.
    fleet: { readInventory } as FleetService,
    queue: {
      deliver: async () => {},
      bringForward: async (rolloutId, ids) => {
        broughtForward.push(...ids.map((id) => `${rolloutId}/${id}`));
      },
    },
    policies: ['production', 'second'],
    observations,
    requestsPerSecond: 4,
    clock: { now: () => now },
    sleep: async (forMs) => {
      rests.push(forMs);
      now += forMs;
    },
    wakeUps: { ring: () => {} },
    sink: { tell: ({ event }) => told.push(event), note: (note) => notes.push(note) },
    answerWithinMs: 35_000,
    random: () => 0.5,
  };
  return {
    store,
    readings,
    broughtForward,
    told,
    notes,
    rests,
    now: () => now,
    during: (work: () => Promise<void>) => {
      between = work;
    },
    has: (rolloutId: string, upgrades: readonly Upgrade[], expectMs = 5 * 60 * seconds) => {
      const policy = aPolicy({ name: rolloutId.slice(0, rolloutId.indexOf('-20')) });
      const rollout = aRollout({
        id: rolloutId,
        fleetSize: 4,
        policy: { ...policy, upgrade: { ...policy.upgrade, expectMs } },
      });
      const own = upgrades.map((upgrade) => ({ ...upgrade, identity: { ...upgrade.identity, rolloutId } }));
      return store.freeze({ rollout, upgrades: own, groups: someGroups(), events: [] });
    },
    /** Leads for so many readings. */
    run: (count: number, signal = new AbortController().signal) =>
      watch(parts, () => readings.length < count, signal),
    load: (id: number, rolloutId = first) => store.loadUpgrade(rolloutId, id),
  };
}

const first = 'production-20260302-1';
const unavailable: Answer<never> = {
  ok: false,
  failure: { kind: 'unavailable', sent: true, detail: 'HTTP 500' },
};

/** Four that run, each due for a look in ten seconds. */
function four(changes: (id: number) => Upgrade | undefined = () => undefined): readonly Upgrade[] {
  const dueAt = t + 4 * 60 * seconds + 10 * seconds;
  return [1, 2, 3, 4].map((id) => {
    const upgrade = changes(id) ?? anUpgradingOne({ dueAt });
    return { ...upgrade, identity: { ...upgrade.identity, collectorId: id, order: id } };
  });
}

describe('watching by pages of the inventory', () => {
  it('lets the looks of quiet ones wait for two periods, and has those looked at now that stir', async () => {
    const world = aWatch((id) => (id === 3 ? { build: targetBuild } : {}));
    await world.has(first, four());
    await world.run(1);
    const at = world.readings[0] ?? 0;
    expect(await world.load(1)).toMatchObject({
      progress: { state: 'upgrading', dueAt: at + 40 * seconds, unchangedAt: at },
    });
    expect(await world.load(3)).toMatchObject({ progress: { state: 'upgrading', dueAt: at, polledAt: t } });
    expect(world.broughtForward).toEqual([`${first}/3`]);
    expect(world.told).toEqual([]);
  });

  it('takes the proof of a return from a row, and frees who was deferred (P10)', async () => {
    const world = aWatch((id, at) => (id === 1 ? { build: targetBuild, lastSeenAlive: at } : {}));
    const dueAt = t + 5 * 60 * seconds;
    const verifying = anUpgrade({
      state: 'verifying',
      taskId: '7',
      startedAt: t,
      verifyBy: t + 15 * 60 * seconds,
      dueAt,
      endedServiceAt: t + 3 * 60 * seconds,
      baselineHeartbeatAt: null,
      late: false,
    });
    const away = anUpgrade({
      state: 'deferred',
      condition: 'notAlive',
      since: t,
      dueAt,
      reason: because('away'),
    });
    await world.has(
      first,
      four((id) => ({ 1: verifying, 2: away })[id]),
    );
    await world.run(1);
    expect((await world.load(1))?.progress.state).toBe('succeeded');
    expect((await world.load(2))?.progress.state).toBe('retrying');
    // So that their jobs, which wait for later, end.
    expect(world.broughtForward).toEqual([`${first}/1`, `${first}/2`]);
    expect(world.told).toEqual(['upgrade.succeeded', 'upgrade.retrying']);
  });

  it('drops what a row tells when the record has changed since the page was asked for', async () => {
    const world = aWatch(() => ({ build: targetBuild }));
    await world.has(first, four());
    const polledAt = world.now();
    const changed = anUpgradingOne({ dueAt: polledAt + 90 * seconds, polledAt });
    world.during(async () => {
      const before = await world.load(1);
      if (before === undefined || before.rev > 1) return;
      const after = { ...changed, rev: before.rev + 1, identity: { ...changed.identity, rolloutId: first } };
      await world.store.saveUpgrade({ before, after, events: [] }, null);
    });
    await world.run(1);
    expect(await world.load(1)).toMatchObject({
      rev: 2,
      progress: { dueAt: polledAt + 90 * seconds, polledAt },
    });
  });

  it('reads nothing while nothing is watched, and rests before it is asked again', async () => {
    const world = aWatch();
    await world.has(
      first,
      four(() => anUpgrade({ state: 'pending' })),
    );
    expect(await world.run(9)).toBe('done');
    expect(world.readings).toEqual([]);
    expect(world.rests).toEqual([500]);
  });

  it('reads nothing when another leads, or the daemon stops', async () => {
    const world = aWatch();
    await world.has(first, four());
    await world.run(0);
    await world.run(9, AbortSignal.abort());
    expect(world.readings).toEqual([]);
  });

  it('reads less and less often when that fails, tells so once, and is back at its pace after a success', async () => {
    const world = aWatch(
      () => ({}),
      (reading) => reading <= 6,
    );
    await world.has(
      first,
      four(() => anUpgradingOne({ dueAt: t + 24 * 60 * 60 * seconds })),
    );
    await world.run(9);
    expect(gaps(world.readings).map((gap) => gap / seconds)).toEqual([40, 80, 160, 320, 320, 320, 20, 20]);
    expect(world.notes).toMatchObject([
      { event: 'poll.failed', reason: expect.stringContaining('HTTP 500') },
    ]);
  });
});

function gaps(instants: readonly number[]): readonly number[] {
  return instants.slice(1).map((at, index) => at - (instants[index] ?? 0));
}
