import { expect, it } from 'vitest';
import { makeOperations } from '../../../../src/orchestrator/operations/make-operations.ts';
import { aBuildRecord } from '../../../support/builders.ts';
import { aHouse } from '../../../support/house.ts';

it('the history of builds sums what the store has, and names the account', async () => {
  const { parts } = await aHouse();
  const buildHistory = {
    read: async () => [aBuildRecord({ rolloutId: 'a' }), aBuildRecord({ rolloutId: 'b' })],
  };
  const operations = makeOperations({ ...parts, buildHistory, accountName: 'eu' });
  expect(await operations.listBuildHistory()).toMatchObject([
    { accountName: 'eu', build: '19.536-4', tried: 20, failed: 2, rollouts: 2 },
  ]);
});
