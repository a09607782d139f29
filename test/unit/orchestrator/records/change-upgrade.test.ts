import { describe, expect, it } from 'vitest';
import { recordFact } from '../../../../src/orchestrator/records/change-upgrade.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import type { UpgradeFact } from '../../../../src/rollout/upgrade/facts.ts';
import {
  anUpgrade,
  anUpgradingOne,
  aRollout,
  oldBuild,
  someGroups,
  startedAt as t,
} from '../../../support/builders.ts';
import { lossless } from '../../../support/lossless.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import { makeMemoryRolloutStore } from '../../../support/store/memory-rollout-store.ts';

const rollout = aRollout();

/** A store in which the record has gone on since somebody read it. */
async function aChangedRecord(read: Upgrade, now: Upgrade) {
  const store = makeMemoryRolloutStore();
  await store.freeze({ rollout, upgrades: [read], groups: someGroups(), events: [] });
  await store.saveUpgrade({ before: read, after: { ...now, rev: read.rev + 1 }, events: [] }, null);
  const parts = { ...quietParts, store };
  const stored = async () => lossless(await store.loadUpgrade(rollout.id, read.identity.collectorId));
  return { parts, stored };
}

const starting = anUpgrade({ state: 'starting', sentAt: t, dueAt: t, startBy: null });

describe('a fact about a record that somebody else has changed meanwhile', () => {
  it('is dropped when it is what a look showed before that: it may be true no more (P1, P2)', async () => {
    const adopted = anUpgradingOne({ taskId: null });
    const { parts, stored } = await aChangedRecord(starting, adopted);
    const seen: UpgradeFact = {
      kind: 'collectorSeen',
      at: t + 60_000,
      build: oldBuild,
      alive: true,
      lastSeenAlive: t + 60_000,
      serviceAt: t + 60_000,
      upgradable: true,
    };
    await recordFact(parts, rollout, starting, seen);
    expect(await stored()).toMatchObject({ progress: { state: 'upgrading' }, rev: starting.rev + 1 });
    // On the record as it is now, the very same look says that the adopted one seems to be over.
    await recordFact(parts, rollout, await stored(), seen);
    expect(await stored()).toMatchObject({ progress: { state: 'upgrading' }, tally: { failedPolls: 1 } });
  });

  it('is dropped when it answers an earlier create than the one that was sent since (P1)', async () => {
    const again = anUpgrade({ state: 'starting', sentAt: t + 90_000, dueAt: t + 90_000, startBy: null });
    const { parts, stored } = await aChangedRecord(starting, again);
    for (const fact of [
      { kind: 'createNotSent', at: t + 91_000 },
      { kind: 'createFailed', at: t + 91_000, failure: { kind: 'throttled', detail: '' } },
    ] satisfies UpgradeFact[]) {
      await recordFact(parts, rollout, starting, fact);
      expect(await stored()).toMatchObject({ progress: { state: 'starting', sentAt: t + 90_000 } });
    }
  });

  it('is weighed anew when it still holds: the task that the create brought', async () => {
    const { parts, stored } = await aChangedRecord(starting, anUpgradingOne({ taskId: null }));
    await recordFact(parts, rollout, starting, { kind: 'created', at: t + 1_000, taskId: '9' });
    expect(await stored()).toMatchObject({ progress: { state: 'upgrading', taskId: '9' } });
  });
});
