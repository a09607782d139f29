import { expect, it } from 'vitest';
import { makeMemoryRolloutStore } from '../../../src/rehearsal/store/memory-rollout-store.ts';
import { startedAt } from '../../support/builders.ts';
import {
  admitted,
  anyProgress,
  aPlan,
  changeTo,
  ended,
  loadUpgrade,
  loadView,
  pendingOnes,
  saveUpgrade,
} from '../../support/store/store-changes.ts';

it('goes back to what it kept, with its lists, counters, last changes and learned durations', async () => {
  const store = makeMemoryRolloutStore(() => startedAt);
  const verifying = { progress: anyProgress('verifying', startedAt) };
  await store.freeze(aPlan(pendingOnes(3).map((upgrade) => ({ ...upgrade, ...verifying }))));
  const end = async (collectorId: number) =>
    saveUpgrade(store, ended(await loadUpgrade(store, collectorId), 'succeeded', 0));
  await end(1);
  const second = await loadUpgrade(store, 2);
  await saveUpgrade(store, changeTo(second, { state: 'pending' }));
  const kept = await loadView(store);
  const goBack = store.keep();
  await end(3);
  await saveUpgrade(store, admitted(await loadUpgrade(store, 2)));

  expect(await loadView(store)).not.toEqual(kept);
  expect(kept.learned.count).toBe(1);
  goBack();
  expect(await loadView(store)).toEqual(kept);
  await end(3);
  expect((await loadView(store)).learned.count).toBe(2);
});
