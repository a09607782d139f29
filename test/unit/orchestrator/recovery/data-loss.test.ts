import { beforeEach, describe, expect, it } from 'vitest';
import type { DaemonNote } from '../../../../src/orchestrator/ports/event-sink.ts';
import type { StoreInstance } from '../../../../src/orchestrator/ports/fleet-register.ts';
import {
  keepPolling,
  makeStoreMemory,
  type StoreMemory,
} from '../../../../src/orchestrator/recovery/data-loss.ts';
import { makeMemoryFleetRegister } from '../../../../src/rehearsal/store/memory-fleet-register.ts';
import { makeMemoryRolloutStore } from '../../../../src/rehearsal/store/memory-rollout-store.ts';
import { needsStartText } from '../../../../src/rollout/messages/data-loss-texts.ts';
import { aPolicy, aRollout, askedFor, startedAt, targetBuild } from '../../../support/builders.ts';
import { freeze } from '../../../support/house.ts';
import { quietParts } from '../../../support/quiet-parts.ts';

type PutBack = Parameters<StoreInstance['putBack']>[0];
const held = { collectorId: 7, by: 'ann', reason: 'never touch', at: startedAt };
const paused = { state: 'paused', reason: askedFor('wait') } as const;

/** What is there at the moment. */
function whichever<T extends object>(now: () => T): T {
  return new Proxy(now(), { get: (_then, name): unknown => Reflect.get(now(), name) });
}

/** A store that can be taken away, and what daemons said of it. */
function aWorld() {
  let store = makeMemoryRolloutStore();
  let register = makeMemoryFleetRegister();
  let id = 'first';
  const notes: DaemonNote[] = [];
  const policies = ['production', 'staging'];
  const clock = { at: startedAt, now: () => clock.at };
  const back: PutBack[] = [];
  const instance: StoreInstance = {
    identify: async () => id,
    putBack: async (lost) => {
      back.push(lost);
      for (const hold of lost.holds.collectors) await register.holdCollector(hold);
    },
  };
  const loseHolds = (another: string) => {
    register = makeMemoryFleetRegister();
    id = another;
  };
  return {
    notes,
    back,
    policies,
    clock,
    aDaemon: (): StoreMemory =>
      makeStoreMemory({
        ...quietParts,
        store: whichever(() => store),
        register: whichever(() => register),
        instance,
        sink: { ...quietParts.sink, note: (note) => notes.push(note) },
        policies: () => policies,
        clock,
      }),
    register: () => register,
    holds: async () => (await register.holds()).collectors,
    /** The reasons of all notes, one after the other. */
    words: () => notes.map((note) => ('reason' in note ? note.reason : '')).join('\n'),
    freeze: (policy: string, number: number, changes: Parameters<typeof aRollout>[0] = {}) => {
      const of = { id: `${policy}-20260302-${number}`, policy: aPolicy({ name: policy }) };
      return freeze(store, aRollout({ ...of, createdAt: startedAt + number, ...changes }));
    },
    /** One node of a Cluster comes back empty. */
    losePolicy: (policy: string) => {
      const all = store;
      const isOf = (id: string) => id.startsWith(`${policy}-`);
      store = {
        ...all,
        activeRolloutIds: async (policies) =>
          (await all.activeRolloutIds(policies)).filter((id) => !isOf(id)),
        loadRollout: async (id) => (isOf(id) ? undefined : all.loadRollout(id)),
      };
    },
    loseHolds,
    replace: (another: string) => {
      store = makeMemoryRolloutStore();
      loseHolds(another);
    },
  };
}

function lostText(memory: StoreMemory, policy: string, build: string): string | undefined {
  const lost = memory.stoppedRollout(policy, build);
  return lost && needsStartText(lost);
}

describe('the memory of a daemon', () => {
  let world: ReturnType<typeof aWorld>;
  beforeEach(() => {
    world = aWorld();
  });
  /** One that has seen what is there now. */
  const aDaemon = async () => {
    const memory = world.aDaemon();
    await memory.check();
    return memory;
  };

  it('reports a data loss once, and stores holds and numbers again (P5, P11)', async () => {
    await world.freeze('production', 3);
    await world.register().holdCollector(held);
    const memory = world.aDaemon();
    const first = await memory.check();
    expect(await memory.check()).toBe(first);
    world.replace('second');
    const second = await memory.check();
    expect(second).not.toBe(first);
    expect(await memory.check()).toBe(second);
    const takenIds = ['production-20260302-3'];
    expect(world.back).toEqual([
      { instance: 'second', holds: { builds: [], collectors: [held], groups: [] }, takenIds },
    ]);
    expect(world.notes).toEqual([{ event: 'redis.emptied', reason: expect.any(String) }]);
    expect(world.words()).toContain('active rollouts: production-20260302-3 (running)');
    expect(world.words()).toContain('held again: collector 7');
    expect(world.words()).not.toContain('upwave start');
    expect(memory.stoppedRollout('production', targetBuild)).toBeUndefined();
  });

  it('starts no policy by itself whose lost rollout was stopped, until an operator does (P4)', async () => {
    await world.freeze('production', 1, paused);
    await world.freeze('staging', 1);
    const memory = await aDaemon();
    world.replace('second');
    await memory.check();
    const words = 'production-20260302-1 was paused: by alice: wait';
    expect(lostText(memory, 'production', targetBuild)).toBe(
      `Redis lost its data, and ${words}; only an operator starts it again: upwave start production`,
    );
    expect(memory.stoppedRollout('staging', targetBuild)).toBeUndefined();
    expect(world.words()).toContain(`\`upwave start\`: ${words}`);
    // Also when it is emptied again.
    world.replace('third');
    await memory.check();
    expect(lostText(memory, 'production', targetBuild)).toContain(words);
    await world.freeze('production', 2);
    await memory.check();
    expect(memory.stoppedRollout('production', targetBuild)).toBeUndefined();
  });

  it('remembers how a rollout ended that was active at the previous check', async () => {
    await world.freeze('production', 1);
    const memory = await aDaemon();
    world.replace('first');
    await world.freeze('production', 1, { state: 'aborted', endedAt: startedAt });
    await memory.check();
    world.replace('second');
    await memory.check();
    expect(lostText(memory, 'production', targetBuild)).toContain('was aborted');
    expect(memory.stoppedRollout('production', '99.1-1')).toBeUndefined();
  });

  it.each([
    [89, ['staging-20260302-1', 'production-20260302-1']],
    [90, ['staging-20260302-1']],
  ])(
    'remembers %s days after the rollouts of a removed policy and of one of the config: %j',
    async (days, takenIds) => {
      for (const policy of world.policies)
        await world.freeze(policy, 1, { state: 'aborted', endedAt: startedAt });
      const memory = await aDaemon();
      world.policies.splice(0, 1);
      world.clock.at = startedAt + days * 86_400_000 + 1;
      await memory.check();
      world.replace('second');
      await memory.check();
      expect(world.back.map((lost) => lost.takenIds)).toEqual([takenIds]);
      const isRemembered = memory.stoppedRollout('production', targetBuild) !== undefined;
      expect(isRemembered).toBe(days < 90);
    },
  );

  it('does not report what a daemon finds at its start as a data loss', async () => {
    await world.freeze('production', 1, paused);
    await aDaemon();
    world.replace('second');
    await aDaemon();
    expect(world.notes).toEqual([]);
    expect(world.back).toEqual([]);
  });

  it('detects by a missing active rollout that one node of a Cluster lost its data (P4, P11)', async () => {
    await world.freeze('production', 3, paused);
    await world.freeze('staging', 2, paused);
    await world.register().holdCollector(held);
    const memory = await aDaemon();
    world.losePolicy('production');
    await memory.check();
    await memory.check();
    expect(lostText(memory, 'production', targetBuild)).toContain('was paused: by alice: wait');
    expect(memory.stoppedRollout('staging', targetBuild)).toBeUndefined();
    const takenIds = ['production-20260302-3', 'staging-20260302-2'];
    expect(world.back).toEqual([
      { instance: 'first', holds: { builds: [], collectors: [], groups: [] }, takenIds },
    ]);
    expect(world.notes).toHaveLength(1);
    expect(world.words()).toContain('active rollouts: production-20260302-3 (paused)');
    expect(world.words()).not.toContain('staging');
    expect(world.words()).toContain('held again: none known');
  });

  it('stores holds again when their node lost its data, and does not stop rollouts that are still there', async () => {
    await world.freeze('production', 3, paused);
    await world.register().holdCollector(held);
    const memory = await aDaemon();
    for (const mark of ['another', 'a third']) {
      world.loseHolds(mark);
      await memory.check();
      expect(await world.holds()).toEqual([held]);
    }
    expect(world.back.map(({ instance }) => instance)).toEqual(['another', 'a third']);
    expect(memory.stoppedRollout('production', targetBuild)).toBeUndefined();
    expect(world.words()).toContain('held again: collector 7');
  });

  it('writes one audit entry of a data loss for all daemons', async () => {
    await world.freeze('production', 3);
    await world.register().holdCollector(held);
    const daemons = [await aDaemon(), await aDaemon()];
    const audit = async () => {
      for (const daemon of [...daemons, ...daemons]) await daemon.check();
      return world.register().readAudit(9);
    };
    expect(await audit()).toEqual([]);
    world.replace('second');
    const reason = expect.stringMatching(/^Redis lost its data; .*; held again: collector 7;/);
    expect(await audit()).toEqual([
      { event: 'record.lost', subject: 'Redis', by: 'daemon', at: startedAt, reason },
    ]);
    await world.freeze('production', 4);
    expect(await audit()).toHaveLength(1);
    world.losePolicy('production');
    expect(await audit()).toHaveLength(2);
  });

  it('retries to store holds after an error', async () => {
    await world.register().holdCollector(held);
    const memory = await aDaemon();
    world.replace('second');
    const { holdCollector } = world.register();
    Object.assign(world.register(), { holdCollector: () => Promise.reject(new Error('no memory')) });
    await expect(memory.check()).rejects.toThrow('no memory');
    expect(world.notes).toEqual([]);
    Object.assign(world.register(), { holdCollector });
    await memory.check();
    expect(await world.holds()).toEqual([held]);
    expect(world.notes).toHaveLength(1);
  });
});

describe('keepPolling', () => {
  it.each([
    ['two checks after a data loss (P11)', 'aabbbbb', [5]],
    ['two checks after the last one of several (P11)', 'abbcccc', [6]],
    ['never, while the store is the same one', 'aaaaa', []],
  ])('scans %s, without waiting for the schedule', async (_when, names, scansAfter) => {
    const stopping = new AbortController();
    const scannedAfter: number[] = [];
    let checks = 0;
    const memory: StoreMemory = {
      check: async () => {
        checks += 1;
        if (checks === names.length) stopping.abort();
        return names[checks - 1] ?? '';
      },
      stoppedRollout: () => undefined,
    };
    const discoverWork = async () => void scannedAfter.push(checks);
    await keepPolling(memory, { ...quietParts, discoverWork }, stopping.signal);
    expect(scannedAfter).toEqual(scansAfter);
  });
});
