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
  ['waited for: it has the account of an active rollout', { others: [other], foreign }, true],
  [
    'not waited for: it has our account, and the rollout is of another one',
    { others: [sameAccount], foreign },
    false,
  ],
  ['not waited for: no daemon is alive, and the rollout is of another account', { foreign }, false],
  [
    'waited for: it has a policy that we lack, with an active rollout',
    { others: [other], active: [theirs] },
    true,
  ],
  ['not waited for: it has a policy that we lack, without a rollout', { others: [other] }, false],
  [
    'not waited for: no daemon is alive, and a policy that we lack has an active rollout',
    { active: [theirs] },
    false,
  ],
  [
    'waited for: it has a newer config of a policy',
    { others: [sameAccount], config: 'outdated' as const },
    true,
  ],
  [
    'not waited for: it has an older config of a policy',
    { others: [sameAccount], config: 'newest' as const },
    false,
  ],
  ['waited for: a newer version has written a record', { others: [other], newer }, true],
  ['not waited for: no daemon is alive, and a newer version has written a record', { newer }, false],
  ['not waited for: the active rollout is ours', { others: [other], active: [own] }, false],
])('another daemon is %s', async (_which, of, expected) => {
  const { others, foreign, active, newer, config } = {
    ...{ others: [], foreign: [], active: [], newer: [], config: 'agreed' as const },
    ...of,
  };
  const statuses = new Map([['production', { kind: config, others: 1 }]]);
  const waitedFor = await isWaitedFor({
    policies: () => ['production'],
    store: {
      activeRolloutIds: async (policies) =>
        active.filter((id: string) => policies.some((policy) => id.startsWith(policy))),
    },
    accounts: { foreign: () => foreign, forgetEnded: async () => undefined },
    newerRecords: () => newer,
    configs: { living: () => ({ account: 'ours', others }), statuses: () => statuses },
  });
  expect(waitedFor).toBe(expected);
});
