import { beforeEach, describe, expect, it } from 'vitest';
import type { DaemonNote } from '../../src/orchestrator/ports/event-sink.ts';
import type { StoreBirth } from '../../src/orchestrator/ports/store-birth.ts';
import { makeStoreMemory, type StoreMemory } from '../../src/orchestrator/store-memory.ts';
import { aPolicy, aRollout, someGroups, startedAt, targetBuild } from '../support/builders.ts';
import { makeMemoryFleetRegister, makeMemoryRolloutStore } from '../support/memory-rollout-store.ts';

type PutBack = Parameters<StoreBirth['putBack']>[0];
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
  const notes: DaemonNote[] = [];
  const back: PutBack[] = [];
  const birth: StoreBirth = {
    identify: async () => ({ born, isRestored: born.startsWith('restored') }),
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
    expect(await memory.look()).toBe('first');
    world.replace('second');
    expect(await memory.look()).toBe('second');
    await memory.look();
    expect(world.back).toEqual([
      {
        born: 'second',
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
    expect(reason).not.toContain('run --once');
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
      `Redis was emptied, and ${words}; only an operator starts it again: upwave run --once`,
    );
    expect(memory.refusal('staging', targetBuild)).toBeUndefined();
    expect(world.notes).toMatchObject([
      { reason: expect.stringContaining(`\`upwave run --once\`: ${words}`) },
    ]);
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

  it('calls nothing a loss that a person restored, nor what a daemon finds that has just started', async () => {
    await world.freeze('production', 1, { state: 'paused' });
    const memory = world.aDaemon();
    await memory.look();
    world.replace('restored:1');
    await memory.look();
    await world.aDaemon().look();
    expect(memory.refusal('production', targetBuild)).toBeUndefined();
    expect(world.notes).toEqual([]);
    expect(world.back).toEqual([]);
    // What was restored is known from then on.
    await world.freeze('production', 7, { state: 'held', reason: 'x' });
    await memory.look();
    world.replace('second');
    await memory.look();
    expect(world.back.flatMap(({ takenIds }) => takenIds)).toEqual(['production-20260302-7']);
    expect(memory.refusal('production', targetBuild)).toContain('was held');
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
