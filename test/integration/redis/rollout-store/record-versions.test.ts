import { beforeEach, describe, expect, it } from 'vitest';
import { rolloutKeys } from '../../../../src/redis/schema/rollout-keys.ts';
import { makeBrokenRecords, recordVersion } from '../../../../src/redis/schema/unreadable-records.ts';
import { decide } from '../../../../src/rollout/decision/decide.ts';
import { aRollout, aWave, startedAt } from '../../../support/builders.ts';
import { useRedis } from '../../../support/redis/redis.ts';
import { aRedisStore } from '../../../support/redis/redis-adapters.ts';
import {
  aPlan,
  ended,
  loadUpgrade,
  loadView,
  pendingOnes,
  rolloutChange,
  saveUpgrade,
} from '../../../support/store/store-changes.ts';

const redis = useRedis();
const id = 'production-20260302-1';

describe('a rollout that two versions of upwave know', () => {
  let place: ReturnType<typeof redis.place>;
  const storeOf = (version: number) => {
    const reported: string[] = [];
    const broken = makeBrokenRecords(({ message }) => reported.push(message));
    return { store: aRedisStore({ ...place, broken, version }), broken, reported };
  };
  const freeze = async (version: number) => {
    const rollout = aRollout({ waves: [aWave({ state: 'open', size: 3 })] });
    expect(await storeOf(version).store.freeze(aPlan(pendingOnes(3), { rollout }))).toBe('frozen');
    return rollout;
  };
  const withdraw = async (version: number, collectorId: number) => {
    const before = await loadUpgrade(storeOf(recordVersion + 1).store, collectorId);
    return saveUpgrade(storeOf(version).store, ended(before, 'withdrawn', 0));
  };
  const everything = async () => {
    const keys = Object.values(rolloutKeys(place.keyPrefix, id));
    return Promise.all(keys.map((key) => place.commands.dump(key)));
  };
  beforeEach(() => {
    place = redis.place();
  });

  it('is read by the newer one, and gets its version with the first change', async () => {
    const rollout = await freeze(recordVersion);
    const { store } = storeOf(recordVersion + 1);
    expect(await store.loadRollout(id)).toEqual(rollout);
    expect(await withdraw(recordVersion + 1, 1)).toBe('saved');
    // Whoever read it with an earlier version must not change it any more.
    expect((await store.loadRollout(id))?.rev).toBe(rollout.rev + 1);
    expect(await withdraw(recordVersion + 1, 2)).toBe('saved');
    expect((await store.loadRollout(id))?.rev).toBe(rollout.rev + 1);
  });

  it('is shown by the older version with the reason, and not changed', async () => {
    const rollout = await freeze(recordVersion);
    await withdraw(recordVersion + 1, 1);
    const before = await everything();
    const { store, reported, broken } = storeOf(recordVersion);
    const view = await loadView(store);
    expect(view.rollout).toMatchObject({
      state: 'running',
      plan: { targetBuild: rollout.plan.targetBuild },
      unreadable: { kind: 'newer', version: recordVersion + 1, readable: recordVersion },
    });
    const decision = decide({ ...view, buildHold: null, rollback: null }, startedAt);
    expect(decision).toEqual({
      actions: [],
      blockers: [{ kind: 'newerVersion', version: recordVersion + 1, readable: recordVersion, until: null }],
      wakeAt: null,
    });
    expect(reported).toEqual([expect.stringContaining('newer upwave')]);
    expect(broken.newer()).toHaveLength(1);
    // As by a daemon that had read all of it before.
    expect(await withdraw(recordVersion, 2)).toBe('stale');
    expect(await store.saveRollout(rolloutChange(rollout, { state: 'paused' }), null)).toBe('stale');
    await store.packEnded(['production'], Number.MAX_SAFE_INTEGER, new AbortController().signal);
    expect(await everything()).toEqual(before);
  });

  it('keeps its policy busy, so that no other rollout starts', async () => {
    await freeze(recordVersion + 1);
    const { store } = storeOf(recordVersion);
    const rollout = aRollout({ id: 'production-20260302-2' });
    expect(await store.freeze(aPlan([], { rollout }))).toBe('busy');
    expect(await store.activeRolloutIds(['production'])).toEqual([id]);
  });

  it('is shown after its end, and no longer keeps its policy busy', async () => {
    const rollout = await freeze(recordVersion + 1);
    const ending = rolloutChange(rollout, { state: 'succeeded', endedAt: startedAt });
    expect(await storeOf(recordVersion + 1).store.saveRollout(ending, null)).toBe('saved');
    expect(await storeOf(recordVersion).store.loadRollout(id)).toMatchObject({ state: 'succeeded' });
    expect(await storeOf(recordVersion).store.activeRolloutIds(['production'])).toEqual([]);
  });
});
