import { describe, expect, it } from 'vitest';
import { learnBuildHolds } from '../../../../src/orchestrator/records/learn-build-holds.ts';
import { makeMemoryFleetRegister } from '../../../../src/rehearsal/store/memory-fleet-register.ts';
import { startedAt } from '../../../support/builders.ts';

const hold = { build: '19.536-4', by: 'daemon', reason: 'web-eu-20260302-1: 3 failed', at: startedAt };

function twoAccounts() {
  const [eu, us] = [makeMemoryFleetRegister(), makeMemoryFleetRegister()];
  return { eu, us, learned: learnBuildHolds(us, [{ account: 'eu', register: eu }]) };
}

describe('the builds that are held where accounts learn from each other', () => {
  it('are also those of the other accounts, which are named, until their release there', async () => {
    const { eu, learned } = twoAccounts();
    expect((await learned.holds()).builds).toEqual([]);
    await eu.holdBuild(hold);
    expect((await learned.holds()).builds).toEqual([
      { ...hold, reason: 'in account eu: web-eu-20260302-1: 3 failed' },
    ]);
    await eu.releaseBuild(hold.build);
    expect((await learned.holds()).builds).toEqual([]);
  });

  it('are named once, by the hold of the own account', async () => {
    const { eu, us, learned } = twoAccounts();
    await eu.holdBuild(hold);
    await us.holdBuild({ ...hold, reason: 'ours' });
    expect((await learned.holds()).builds).toEqual([{ ...hold, reason: 'ours' }]);
  });

  it('are not copied, and collectors of another account are others', async () => {
    const { eu, us, learned } = twoAccounts();
    await eu.holdBuild(hold);
    await eu.holdCollector({ collectorId: 7, by: 'ann', reason: '', at: startedAt });
    expect((await learned.holds()).collectors).toEqual([]);
    expect((await us.holds()).builds).toEqual([]);
  });
});
