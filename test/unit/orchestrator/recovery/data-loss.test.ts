import { beforeEach, describe, expect, it } from 'vitest';
import type { DaemonNote } from '../../../../src/orchestrator/ports/event-sink.ts';
import type { StoreInstance } from '../../../../src/orchestrator/ports/store-instance.ts';
import {
  keepPolling,
  makeStoreMemory,
  type StoreMemory,
} from '../../../../src/orchestrator/recovery/data-loss.ts';
import { aPolicy, aRollout, someGroups, startedAt, targetBuild } from '../../../support/builders.ts';
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
  let born = 'first';
  /** Marks of parts that are other ones than the whole. */
  const partMarks = new Map<string, string>();
  const notes: DaemonNote[] = [];
  const back: PutBack[] = [];
  const birth: StoreInstance = {
    identify: async (policies) => ({
      whole: born,
      holds: partMarks.get('holds') ?? born,
      policies: new Map(policies.map((policy) => [policy, partMarks.get(policy) ?? born])),
    }),
    putBack: async (lost) => {
      back.push(lost);
      for (const hold of lost.collectors) await register.holdCollector(hold);
    },
  };
  const aDaemon = (): StoreMemory =>
    makeStoreMemory({
      store: whichever(() => store),
      register: whichever(() => register),
      birth,
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
      partMarks.set(policy, 'another');
    },
    loseHolds: (mark: string) => {
      register = makeMemoryFleetRegister();
      partMarks.set('holds', mark);
    },
    replaceLead: (mark: string) => {
      partMarks.set('holds', born);
      for (const policy of ['production', 'staging']) partMarks.set(policy, born);
      born = mark;
    },
    replace: (mark: string) => {
      store = makeMemoryRolloutStore();
      register = makeMemoryFleetRegister();
      born = mark;
    },
  };
}

describe('the memory of a daemon', () => {
  let world: ReturnType<typeof aWorld>;
  beforeEach(() => {
    world = aWorld();
  });

  it('tells once that Redis was emptied, and puts back holds and numbers (P5, P11)', async () => {
    await world.freeze('production', 3, { state: 'running' });
    await world.register().holdCollector({ collectorId: 100000010, ...word });
    const memory = world.aDaemon();
    const first = await memory.look();
    expect(await memory.look()).toBe(first);
    world.replace('second');
    const second = await memory.look();
    expect(second).not.toBe(first);
    expect(await memory.look()).toBe(second);
    expect(world.back).toEqual([
      {
        holdsMark: 'second',
        builds: [],
        collectors: [{ collectorId: 100000010, ...word }],
        takenIds: ['production-20260302-3'],
      },
    ]);
    expect(world.notes).toEqual([{ event: 'redis.emptied', reason: expect.any(String) }]);
    const [note] = world.notes;
    const reason = note !== undefined && 'reason' in note ? note.reason : '';
    expect(reason).toContain('on their way were production-20260302-3 (running)');
    expect(reason).toContain('held again: collector 100000010');
    expect(reason).not.toContain('upwave start');
    expect(memory.refusal('production', targetBuild)).toBeUndefined();
  });

  it('begins nothing by itself that stood still, until somebody did (P4)', async () => {
    await world.freeze('production', 1, { state: 'paused', reason: 'ann: wait' });
    await world.freeze('staging', 1, { state: 'running' });
    const memory = world.aDaemon();
    await memory.look();
    world.replace('second');
    await memory.look();
    const words = 'production-20260302-1 was paused: ann: wait';
    expect(memory.refusal('production', targetBuild)).toBe(
      `Redis was emptied, and ${words}; only an operator starts it again: upwave start production`,
    );
    expect(memory.refusal('staging', targetBuild)).toBeUndefined();
    expect(world.notes).toMatchObject([{ reason: expect.stringContaining(`\`upwave start\`: ${words}`) }]);
    // Also when it is emptied again.
    world.replace('third');
    await memory.look();
    expect(memory.refusal('production', targetBuild)).toContain(words);
    await world.freeze('production', 2, { state: 'running' });
    await memory.look();
    expect(memory.refusal('production', targetBuild)).toBeUndefined();
  });

  it('remembers how a rollout ended that was on its way when it was seen before', async () => {
    await world.freeze('production', 1, { state: 'running' });
    const memory = world.aDaemon();
    await memory.look();
    world.replace('first');
    await world.freeze('production', 1, { state: 'aborted', endedAt: startedAt });
    await memory.look();
    world.replace('second');
    await memory.look();
    expect(memory.refusal('production', targetBuild)).toContain('was aborted');
    expect(memory.refusal('production', '99.1-1')).toBeUndefined();
  });

  it('calls nothing a loss that a daemon finds which has just started', async () => {
    await world.freeze('production', 1, { state: 'paused' });
    await world.aDaemon().look();
    world.replace('second');
    await world.aDaemon().look();
    expect(world.notes).toEqual([]);
    expect(world.back).toEqual([]);
  });

  it('tells of one policy alone when the node that has it was emptied, and not the others (P4, P11)', async () => {
    await world.freeze('production', 3, { state: 'paused', reason: 'ann: wait' });
    await world.freeze('staging', 2, { state: 'paused', reason: 'ann: wait' });
    await world.register().holdCollector({ collectorId: 7, ...word });
    const memory = world.aDaemon();
    await memory.look();
    world.losePolicy('production');
    await memory.look();
    await memory.look();
    expect(memory.refusal('production', targetBuild)).toContain('was paused: ann: wait');
    expect(memory.refusal('staging', targetBuild)).toBeUndefined();
    expect(world.back).toEqual([
      { holdsMark: 'first', builds: [], collectors: [], takenIds: ['production-20260302-3'] },
    ]);
    const [note, ...more] = world.notes;
    expect(more).toEqual([]);
    const reason = note !== undefined && 'reason' in note ? note.reason : '';
    expect(reason).toContain(
      'a part of what was kept there is gone: the records and the history of production',
    );
    expect(reason).not.toContain('staging');
    expect(reason).not.toContain('held again');
  });

  it('puts back holds when the node that has them was emptied, and begins as before what is there', async () => {
    await world.freeze('production', 3, { state: 'paused', reason: 'ann: wait' });
    await world.register().holdCollector({ collectorId: 7, ...word });
    const memory = world.aDaemon();
    await memory.look();
    for (const mark of ['another', 'a third']) {
      world.loseHolds(mark);
      await memory.look();
      expect((await world.register().holds()).collectors).toEqual([{ collectorId: 7, ...word }]);
    }
    expect(world.back.map(({ holdsMark, takenIds }) => [holdsMark, takenIds])).toEqual([
      ['another', []],
      ['a third', []],
    ]);
    expect(memory.refusal('production', targetBuild)).toBeUndefined();
    expect(world.notes[0]).toMatchObject({ reason: expect.stringContaining('what was held, and the audit') });
  });

  it('begins the audit anew with what was lost and put back, once for all daemons', async () => {
    await world.freeze('production', 3, { state: 'running' });
    await world.register().holdCollector({ collectorId: 7, ...word });
    const daemons = [world.aDaemon(), world.aDaemon()];
    for (const daemon of daemons) await daemon.look();
    expect(await world.register().readAudit(9)).toEqual([]);
    world.replace('second');
    for (const daemon of [...daemons, ...daemons]) await daemon.look();
    expect(await world.register().readAudit(9)).toEqual([
      {
        event: 'record.lost',
        subject: 'Redis',
        by: 'daemon',
        at: startedAt,
        reason: expect.stringMatching(/^what was kept there is gone: .*; held again: collector 7;/),
      },
    ]);
    world.losePolicy('production');
    for (const daemon of daemons) await daemon.look();
    expect((await world.register().readAudit(9)).length).toBe(2);
  });

  it('loses nothing with a node that had neither', async () => {
    await world.freeze('production', 3, { state: 'paused' });
    const memory = world.aDaemon();
    const first = await memory.look();
    world.replaceLead('second');
    expect(await memory.look()).not.toBe(first);
    expect([world.notes, world.back]).toEqual([[], []]);
    expect(memory.refusal('production', targetBuild)).toBeUndefined();
  });

  it('tries to put back again what it could not', async () => {
    await world.register().holdCollector({ collectorId: 7, ...word });
    const memory = world.aDaemon();
    await memory.look();
    world.replace('second');
    const register = world.register();
    const { holdCollector } = register;
    Object.assign(register, { holdCollector: () => Promise.reject(new Error('no memory')) });
    await expect(memory.look()).rejects.toThrow('no memory');
    expect(world.notes).toEqual([]);
    Object.assign(register, { holdCollector });
    await memory.look();
    expect((await register.holds()).collectors).toEqual([{ collectorId: 7, ...word }]);
    expect(world.notes.length).toBe(1);
  });
});

describe('a daemon that keeps looking', () => {
  /** @returns after how many looks it looked for work, when the store was called by these names */
  async function looksForWork(names: readonly string[]): Promise<readonly number[]> {
    const stopping = new AbortController();
    const at: number[] = [];
    let looks = 0;
    const memory: StoreMemory = {
      look: async () => {
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

  it('looks for work two looks after Redis was emptied, and not at the next tick of a schedule (P11)', async () => {
    expect(await looksForWork(['a', 'a', 'b', 'b', 'b', 'b', 'b'])).toEqual([5]);
    expect(await looksForWork(['a', 'b', 'b', 'c', 'c', 'c', 'c'])).toEqual([6]);
  });

  it('looks for none while it is the one that it was', async () => {
    expect(await looksForWork(['a', 'a', 'a', 'a', 'a'])).toEqual([]);
  });
});
