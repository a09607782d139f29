import { beforeEach, describe, expect, it } from 'vitest';
import type { DaemonNote } from '../../../../src/orchestrator/ports/event-sink.ts';
import type { StoreInstance } from '../../../../src/orchestrator/ports/store-instance.ts';
import {
  keepPolling,
  makeStoreMemory,
  type StoreMemory,
} from '../../../../src/orchestrator/recovery/data-loss.ts';
import { aPolicy, aRollout, because, someGroups, startedAt, targetBuild } from '../../../support/builders.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';

type PutBack = Parameters<StoreInstance['putBack']>[0];
const word = { by: 'ann', reason: 'never touch', at: startedAt };

/** What is there at the moment. */
function whichever<T extends object>(now: () => T): T {
  return new Proxy(now(), { get: (_then, name): unknown => Reflect.get(now(), name) });
}

/** A store that can be taken away, and what daemons were told. */
function aWorld() {
  let store = makeMemoryRolloutStore();
  let register = makeMemoryFleetRegister();
  let id = 'first';
  const notes: DaemonNote[] = [];
  const back: PutBack[] = [];
  const instance: StoreInstance = {
    identify: async () => id,
    putBack: async (lost) => {
      back.push(lost);
      for (const hold of lost.collectors) await register.holdCollector(hold);
    },
  };
  const aDaemon = (): StoreMemory =>
    makeStoreMemory({
      store: whichever(() => store),
      register: whichever(() => register),
      instance,
      sink: { tell: () => undefined, note: (note) => notes.push(note) },
      clock: { now: () => startedAt },
      policies: ['production', 'staging'],
    });
  return {
    notes,
    back,
    aDaemon,
    register: () => register,
    freeze: async (policy: string, number: number, changes: Parameters<typeof aRollout>[0] = {}) => {
      const rollout = aRollout({
        id: `${policy}-20260302-${number}`,
        policy: aPolicy({ name: policy }),
        createdAt: startedAt + number,
        ...changes,
      });
      await store.freeze({ rollout, upgrades: [], groups: someGroups(), events: [] });
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
    loseHolds: (another: string) => {
      register = makeMemoryFleetRegister();
      id = another;
    },
    replace: (another: string) => {
      store = makeMemoryRolloutStore();
      register = makeMemoryFleetRegister();
      id = another;
    },
  };
}

describe('the memory of a daemon', () => {
  let world: ReturnType<typeof aWorld>;
  beforeEach(() => {
    world = aWorld();
  });

  it('reports a data loss once, and stores holds and numbers again (P5, P11)', async () => {
    await world.freeze('production', 3, { state: 'running' });
    await world.register().holdCollector({ collectorId: 100000010, ...word });
    const memory = world.aDaemon();
    const first = await memory.check();
    expect(await memory.check()).toBe(first);
    world.replace('second');
    const second = await memory.check();
    expect(second).not.toBe(first);
    expect(await memory.check()).toBe(second);
    expect(world.back).toEqual([
      {
        instance: 'second',
        builds: [],
        collectors: [{ collectorId: 100000010, ...word }],
        takenIds: ['production-20260302-3'],
      },
    ]);
    expect(world.notes).toEqual([{ event: 'redis.emptied', reason: expect.any(String) }]);
    const [note] = world.notes;
    const reason = note !== undefined && 'reason' in note ? note.reason : '';
    expect(reason).toContain('active rollouts: production-20260302-3 (running)');
    expect(reason).toContain('held again: collector 100000010');
    expect(reason).not.toContain('upwave start');
    expect(memory.refusal('production', targetBuild)).toBeUndefined();
  });

  it('starts no policy by itself whose lost rollout was stopped, until an operator does (P4)', async () => {
    await world.freeze('production', 1, { state: 'paused', reason: because('ann: wait') });
    await world.freeze('staging', 1, { state: 'running' });
    const memory = world.aDaemon();
    await memory.check();
    world.replace('second');
    await memory.check();
    const words = 'production-20260302-1 was paused: ann: wait';
    expect(memory.refusal('production', targetBuild)).toBe(
      `Redis lost its data, and ${words}; only an operator starts it again: upwave start production`,
    );
    expect(memory.refusal('staging', targetBuild)).toBeUndefined();
    expect(world.notes).toMatchObject([{ reason: expect.stringContaining(`\`upwave start\`: ${words}`) }]);
    // Also when it is emptied again.
    world.replace('third');
    await memory.check();
    expect(memory.refusal('production', targetBuild)).toContain(words);
    await world.freeze('production', 2, { state: 'running' });
    await memory.check();
    expect(memory.refusal('production', targetBuild)).toBeUndefined();
  });

  it('remembers how a rollout ended that was active at the check before', async () => {
    await world.freeze('production', 1, { state: 'running' });
    const memory = world.aDaemon();
    await memory.check();
    world.replace('first');
    await world.freeze('production', 1, { state: 'aborted', endedAt: startedAt });
    await memory.check();
    world.replace('second');
    await memory.check();
    expect(memory.refusal('production', targetBuild)).toContain('was aborted');
    expect(memory.refusal('production', '99.1-1')).toBeUndefined();
  });

  it('takes what a daemon finds at its start for no data loss', async () => {
    await world.freeze('production', 1, { state: 'paused' });
    await world.aDaemon().check();
    world.replace('second');
    await world.aDaemon().check();
    expect(world.notes).toEqual([]);
    expect(world.back).toEqual([]);
  });

  it('notices by an active rollout that is gone that one node of a Cluster lost its data (P4, P11)', async () => {
    await world.freeze('production', 3, { state: 'paused', reason: because('ann: wait') });
    await world.freeze('staging', 2, { state: 'paused', reason: because('ann: wait') });
    await world.register().holdCollector({ collectorId: 7, ...word });
    const memory = world.aDaemon();
    await memory.check();
    world.losePolicy('production');
    await memory.check();
    await memory.check();
    expect(memory.refusal('production', targetBuild)).toContain('was paused: ann: wait');
    expect(memory.refusal('staging', targetBuild)).toBeUndefined();
    expect(world.back).toEqual([
      {
        instance: 'first',
        builds: [],
        collectors: [],
        takenIds: ['production-20260302-3', 'staging-20260302-2'],
      },
    ]);
    const [note, ...more] = world.notes;
    expect(more).toEqual([]);
    const reason = note !== undefined && 'reason' in note ? note.reason : '';
    expect(reason).toContain('active rollouts: production-20260302-3 (paused)');
    expect(reason).not.toContain('staging');
    expect(reason).toContain('held again: none known');
  });

  it('stores holds again when their node lost its data, and starts as before what is still there', async () => {
    await world.freeze('production', 3, { state: 'paused', reason: because('ann: wait') });
    await world.register().holdCollector({ collectorId: 7, ...word });
    const memory = world.aDaemon();
    await memory.check();
    for (const mark of ['another', 'a third']) {
      world.loseHolds(mark);
      await memory.check();
      expect((await world.register().holds()).collectors).toEqual([{ collectorId: 7, ...word }]);
    }
    expect(world.back.map(({ instance }) => instance)).toEqual(['another', 'a third']);
    expect(memory.refusal('production', targetBuild)).toBeUndefined();
    expect(world.notes[0]).toMatchObject({ reason: expect.stringContaining('held again: collector 7') });
  });

  it('writes one audit entry of a data loss for all daemons', async () => {
    await world.freeze('production', 3, { state: 'running' });
    await world.register().holdCollector({ collectorId: 7, ...word });
    const daemons = [world.aDaemon(), world.aDaemon()];
    for (const daemon of daemons) await daemon.check();
    expect(await world.register().readAudit(9)).toEqual([]);
    world.replace('second');
    for (const daemon of [...daemons, ...daemons]) await daemon.check();
    expect(await world.register().readAudit(9)).toEqual([
      {
        event: 'record.lost',
        subject: 'Redis',
        by: 'daemon',
        at: startedAt,
        reason: expect.stringMatching(/^Redis lost its data; .*; held again: collector 7;/),
      },
    ]);
    await world.freeze('production', 4, { state: 'running' });
    for (const daemon of daemons) await daemon.check();
    world.losePolicy('production');
    for (const daemon of daemons) await daemon.check();
    expect((await world.register().readAudit(9)).length).toBe(2);
  });

  it('tries again to store what it could not store', async () => {
    await world.register().holdCollector({ collectorId: 7, ...word });
    const memory = world.aDaemon();
    await memory.check();
    world.replace('second');
    const register = world.register();
    const { holdCollector } = register;
    Object.assign(register, { holdCollector: () => Promise.reject(new Error('no memory')) });
    await expect(memory.check()).rejects.toThrow('no memory');
    expect(world.notes).toEqual([]);
    Object.assign(register, { holdCollector });
    await memory.check();
    expect((await register.holds()).collectors).toEqual([{ collectorId: 7, ...word }]);
    expect(world.notes.length).toBe(1);
  });
});

describe('keepPolling', () => {
  /** @returns after how many looks it looked for work, when the store was called by these names */
  async function looksForWork(names: readonly string[]): Promise<readonly number[]> {
    const stopping = new AbortController();
    const at: number[] = [];
    let looks = 0;
    const memory: StoreMemory = {
      check: async () => {
        looks += 1;
        if (looks === names.length) stopping.abort();
        return names[looks - 1] ?? '';
      },
      refusal: () => undefined,
    };
    const discoverWork = async () => {
      at.push(looks);
    };
    const sink = { tell: () => undefined, note: () => undefined };
    await keepPolling(memory, { sink, sleep: async () => undefined, discoverWork }, stopping.signal);
    return at;
  }

  it('scans two checks after a data loss, and not at the next tick of a schedule (P11)', async () => {
    expect(await looksForWork(['a', 'a', 'b', 'b', 'b', 'b', 'b'])).toEqual([5]);
    expect(await looksForWork(['a', 'b', 'b', 'c', 'c', 'c', 'c'])).toEqual([6]);
  });

  it('scans nothing while the store is the same one', async () => {
    expect(await looksForWork(['a', 'a', 'a', 'a', 'a'])).toEqual([]);
  });
});
