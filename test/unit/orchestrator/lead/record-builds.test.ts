import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../../../src/base/steps.ts';
import { packHistory } from '../../../../src/orchestrator/lead/pack-history.ts';
import { makeRecordBuilds } from '../../../../src/orchestrator/lead/record-builds.ts';
import { tabulateAttributes } from '../../../../src/rollout/model/attributes.ts';
import { aBuildRecord, aFleet, aRollout, startedAt } from '../../../support/builders.ts';
import { aHouse, freeze, over, save, upgradesLike } from '../../../support/house.ts';
import { countingStore } from '../../../support/store/counting-store.ts';
import { makeMemoryBuildHistory } from '../../../support/store/memory-build-history.ts';
import { changeTo, findUpgrade, saveUpgrade } from '../../../support/store/store-changes.ts';

const never = new AbortController().signal;
const { id } = aRollout();
const endedAt = startedAt + 60_000;
const later = endedAt + 60_000;

/** A house whose rollout of 2,500 collectors has ended; the first of them failed. */
async function anEndedHouse() {
  const [first, ...others] = upgradesLike(2_500, over('succeeded'));
  if (first === undefined) throw new Error('there are some');
  const failed = { ...first, progress: { ...over('failed'), failureClass: 'permanent' } as const };
  const house = await aHouse({ upgrades: [failed, ...others] });
  await save(house.store, aRollout(), { state: 'finishedWithFailures', endedAt });
  const history = makeMemoryBuildHistory();
  const { store, calls } = countingStore(house.store);
  const parts = { store, buildHistory: history, policies: () => ['production'] };
  return { house, history, parts, calls };
}

/** Ends the rollout again, after a retry of the failed collector. */
async function endAgain({ store }: Awaited<ReturnType<typeof aHouse>>) {
  const failed = await findUpgrade(store, 1, id);
  const rollout = await store.loadRollout(id);
  if (failed === undefined || rollout === undefined) throw new Error('both are stored');
  await saveUpgrade(store, changeTo(failed, over('succeeded')));
  await save(store, rollout, { state: 'succeeded', endedAt: later });
}

describe('the record of what builds did', () => {
  it('is made of all upgrades of an ended rollout, which are read once', async () => {
    const { history, parts, calls } = await anEndedHouse();
    const recordBuilds = makeRecordBuilds(parts);
    await recordBuilds(never);
    const strata = [{ label: 'all', tried: 2_500, failed: { permanent: 1 }, returned: 2_499 }];
    expect(await history.read(9)).toMatchObject([{ rolloutId: id, build: '19.536-4', endedAt, strata }]);
    expect(calls.get('listUpgrades')).toBe(3);
    await recordBuilds(never);
    // A new leader.
    await makeRecordBuilds(parts)(never);
    expect([calls.get('listUpgrades'), calls.get('loadView')]).toEqual([3, 1]);
  });

  it('has the groups that failed, and counts them in later rollouts', async () => {
    const { house, history, parts } = await anEndedHouse();
    const attributes = [{ key: 'fields.rack', value: 'r7' }];
    const earlier = [{ attributes, tried: 9, failed: 8 }];
    await history.record(aBuildRecord({ rolloutId: 'earlier', endedAt: startedAt, groups: earlier }));
    const fleet = aFleet(2_500, (each) => ({ fields: { rack: each <= 40 ? 'r7' : 'r8' } }));
    const table = runAtOnce(tabulateAttributes(fleet.collectors));
    const store = { ...parts.store, loadAttributes: async () => table };
    await makeRecordBuilds({ ...parts, store })(never);
    const [record] = await history.read(1);
    expect(record).toMatchObject({ rolloutId: id, groups: [{ attributes, tried: 40, failed: 1 }] });
    // Unreadable attributes lose the groups, not the record.
    await endAgain(house);
    await makeRecordBuilds({ ...parts, store: { ...store, loadAttributes: async () => undefined } })(never);
    expect((await history.read(1))[0]).toMatchObject({ endedAt: later, groups: [] });
  });

  it('is replaced when the rollout was opened again and has ended', async () => {
    const { house, history, parts } = await anEndedHouse();
    const recordBuilds = makeRecordBuilds(parts);
    await recordBuilds(never);
    await endAgain(house);
    await recordBuilds(never);
    expect(await history.read(9)).toMatchObject([
      { endedAt: later, strata: [{ failed: {}, returned: 2_500 }] },
    ]);
  });

  it('is made at the next pass if the daemon was killed before it was stored', async () => {
    const { history, parts } = await anEndedHouse();
    const killed = async () => {
      throw new Error('killed');
    };
    const dying = { ...parts, buildHistory: { ...history, record: killed } };
    await expect(makeRecordBuilds(dying)(never)).rejects.toThrow('killed');
    await makeRecordBuilds(parts)(never);
    expect(await history.recorded()).toEqual(new Map([[id, endedAt]]));
  });

  it('is not made while the rollout runs, of a rollback, or of a part of its upgrades', async () => {
    const { house, history, parts } = await anEndedHouse();
    const stopping = new AbortController();
    const { listUpgrades } = parts.store;
    const stopped = {
      ...parts.store,
      listUpgrades: (...args: Parameters<typeof listUpgrades>) => {
        stopping.abort();
        return listUpgrades(...args);
      },
    };
    await makeRecordBuilds({ ...parts, store: stopped })(stopping.signal);
    expect(await history.read(9)).toEqual([]);
    await makeRecordBuilds(parts)(never);
    await freeze(house.store, aRollout({ id: 'production-20260302-2', createdAt: later }));
    const rollback = aRollout({ id: 'production-20260302-3', kind: 'rollback' });
    await freeze(house.store, rollback);
    await save(house.store, rollback, { state: 'succeeded', endedAt: later });
    await makeRecordBuilds(parts)(never);
    expect([...(await history.recorded()).keys()]).toEqual([id]);
  });

  it('is made seconds after the end, so that the next start expects what it showed', async () => {
    const { house, history, parts } = await anEndedHouse();
    await save(house.store, await house.now(), { state: 'running', endedAt: null });
    const sleep = async (forMs: number) => {
      house.clock.at += forMs;
      if (house.clock.at === startedAt + 10_000)
        await save(house.store, await house.now(), { state: 'aborted', endedAt });
    };
    const all = { ...house.parts, ...parts, sleep, store: house.store };
    await packHistory(all, () => house.clock.at <= startedAt + 10_000, never);
    expect([...(await history.recorded()).keys()]).toEqual([id]);
  });

  it('is made by the leader before it packs the rollout', async () => {
    const { house, history, parts } = await anEndedHouse();
    const recordedThen: number[] = [];
    const packEnded = async () => void recordedThen.push((await history.recorded()).size);
    const all = { ...house.parts, ...parts, store: { ...house.store, packEnded } };
    await packHistory(all, () => recordedThen.length === 0, never);
    expect(recordedThen).toEqual([1]);
  });
});
