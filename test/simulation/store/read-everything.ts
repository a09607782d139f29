import type { EpochMs } from '../../../src/base/time.ts';
import type { RolloutStore } from '../../../src/orchestrator/ports/rollout-store.ts';

const whole = { offset: 0, limit: 1_000 };

/** All that can be read of these rollouts, with every list. */
export async function readEverything(store: RolloutStore, ids: readonly string[], now: EpochMs) {
  const all: unknown[] = [];
  for (const id of ids) {
    const members = await store.listMemberIds(id);
    const missed = (kind: 'failed' | 'withdrawn' | 'retrying') =>
      store.listMissed(id, { kind, limit: 1_000 });
    all.push({
      view: await store.loadView(id, { now, overdueBefore: now, pageSize: 20 }),
      members: new Set(members),
      upgrades: await store.listUpgrades(id, whole),
      pending: await store.listUpgrades(id, { ...whole, state: 'pending' }),
      ofWave: await store.listUpgrades(id, { ...whole, wave: 1 }),
      failed: await missed('failed'),
      withdrawn: await missed('withdrawn'),
      retrying: await missed('retrying'),
      due: await store.listDue(id, 1_000),
      outcomes: await store.listOutcomes(id),
      freshIntents: await store.countFreshIntents(id, 60_000),
      attributes: await store.loadAttributes(id),
      events: await store.readEvents(id, { limit: 20 }),
    });
  }
  return all;
}
