import { expect, it } from 'vitest';
import { isWaitedFor } from '../../../../src/orchestrator/lead/lead.ts';

const other = {
  followsSchedule: true,
  account: 'theirs',
  beatAt: 0,
  configs: [{ policy: 'staging', hash: 'aaaa', generation: 1 }],
};
const sameAccount = { ...other, account: 'ours' };
const foreign = [{ rolloutId: 'production-20260302-1', policy: 'production', reason: 'another account' }];
const newer = ['rollout production-20260302-1'];
const [own, theirs] = ['production-20260302-1', 'staging-20260302-1'];

it.each([
  ['waited for: of the account of a rollout on its way', { others: [other], foreign }, true],
  ['not waited for: of our account, beside a foreign rollout', { others: [sameAccount], foreign }, false],
  ['not waited for: dead, beside a foreign rollout', { foreign }, false],
  ['waited for: with a policy that we lack, and its rollout', { others: [other], active: [theirs] }, true],
  ['not waited for: with a policy that we lack, and no rollout', { others: [other] }, false],
  ['not waited for: dead, beside its rollout', { active: [theirs] }, false],
  ['waited for: beside a record that a newer version has written', { others: [other], newer }, true],
  ['not waited for: dead, beside a record of a newer version', { newer }, false],
  ['not waited for: beside a rollout that we lead ourselves', { others: [other], active: [own] }, false],
])('another daemon is %s', async (_which, of, expected) => {
  const { others, foreign, active, newer } = { others: [], foreign: [], active: [], newer: [], ...of };
  const waitedFor = await isWaitedFor({
    policies: ['production'],
    store: {
      activeRolloutIds: async (policies) =>
        active.filter((id: string) => policies.some((policy) => id.startsWith(policy))),
    },
    accounts: { foreign: () => foreign, forgetEnded: async () => undefined },
    newerRecords: () => newer,
    configs: { living: () => ({ account: 'ours', others }) },
  });
  expect(waitedFor).toBe(expected);
});
