import { describe, expect, it } from 'vitest';
import { recordFact } from '../../../../src/orchestrator/records/change-upgrade.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import type { UpgradeFact } from '../../../../src/rollout/upgrade/facts.ts';
import { anUpgradingOne, aRollout, oldBuild, startedAt as t } from '../../../support/builders.ts';
import { aHouse, aSighting } from '../../../support/house.ts';
import { saveUpgrade } from '../../../support/store/store-changes.ts';
import { aStartingOne } from '../../../support/upgrade-cases.ts';

const read = aStartingOne();

/** The record of one that was read as starting, and has gone on since. */
async function aRecordThatIsNow(now: Upgrade) {
  const { parts, store, upgrade } = await aHouse({ upgrades: [read] });
  await saveUpgrade(store, { before: read, after: { ...now, rev: read.rev + 1 }, events: [] });
  const record = (fact: UpgradeFact, seen = read) => recordFact(parts, aRollout(), seen, fact);
  return { record, upgrade };
}

describe('a fact about a record that has changed meanwhile', () => {
  it('is dropped when it comes from a poll before the change: it may be outdated (P1, P2)', async () => {
    const { record, upgrade } = await aRecordThatIsNow(anUpgradingOne({ taskId: null, unchangedAt: t }));
    const at = t + 60_000;
    const sighting = aSighting({ build: oldBuild, lastSeenAlive: at, serviceAt: at, upgradable: true });
    const seen: UpgradeFact = { kind: 'collectorSeen', at, ...sighting };
    await record(seen);
    expect(await upgrade()).toMatchObject({ progress: { state: 'upgrading' }, rev: read.rev + 1 });
    // On the record as it is now, the very same poll shows that the adopted one seems to be over.
    await record(seen, await upgrade());
    expect(await upgrade()).toMatchObject({ progress: { state: 'upgrading' }, tally: { failedPolls: 1 } });
  });

  it.each<UpgradeFact>([
    { kind: 'createNotSent', at: t + 91_000 },
    { kind: 'createFailed', at: t + 91_000, failure: { kind: 'throttled', detail: '' } },
  ])('is dropped when it answers an earlier create than the last one (P1): $kind', async (fact) => {
    const { record, upgrade } = await aRecordThatIsNow(
      aStartingOne({ sentAt: t + 90_000, dueAt: t + 90_000 }),
    );
    await record(fact);
    expect(await upgrade()).toMatchObject({ progress: { state: 'starting', sentAt: t + 90_000 } });
  });

  it('is applied to the new record when it still holds: the id of the created task', async () => {
    const { record, upgrade } = await aRecordThatIsNow(anUpgradingOne({ taskId: null }));
    await record({ kind: 'created', at: t + 1_000, taskId: '9' });
    expect(await upgrade()).toMatchObject({ progress: { state: 'upgrading', taskId: '9' } });
  });
});
