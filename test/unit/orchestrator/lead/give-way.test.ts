import { describe, expect, it } from 'vitest';
import { isWaitedFor } from '../../../../src/orchestrator/lead/lead.ts';

const other = {
  followsSchedule: true,
  account: 'theirs',
  beatAt: 0,
  configs: [{ policy: 'staging', hash: 'aaaa', generation: 1 }],
};
const foreign = [{ rolloutId: 'production-20260302-1', policy: 'production', reason: 'another account' }];

function waitedFor(of: {
  readonly others?: readonly (typeof other)[];
  readonly foreign?: typeof foreign;
  readonly active?: readonly string[];
  readonly newer?: readonly string[];
}) {
  return isWaitedFor({
    policies: ['production'],
    store: {
      activeRolloutIds: async (policies) =>
        (of.active ?? []).filter((id) => policies.some((policy) => id.startsWith(policy))),
    },
    accounts: { foreign: () => of.foreign ?? [], forgetEnded: async () => undefined },
    newerRecords: () => of.newer ?? [],
    configs: { living: () => ({ account: 'ours', others: of.others ?? [] }) },
  });
}

describe('another daemon should lead for a while', () => {
  it('when it is of another account, as is a rollout on its way', async () => {
    expect(await waitedFor({ others: [other], foreign })).toBe(true);
    expect(await waitedFor({ others: [{ ...other, account: 'ours' }], foreign })).toBe(false);
    expect(await waitedFor({ others: [], foreign })).toBe(false);
  });

  it('when it has a policy that we do not have, with a rollout on its way', async () => {
    expect(await waitedFor({ others: [other], active: ['staging-20260302-1'] })).toBe(true);
    expect(await waitedFor({ others: [other], active: [] })).toBe(false);
    expect(await waitedFor({ others: [], active: ['staging-20260302-1'] })).toBe(false);
  });

  it('when a newer version has written a rollout', async () => {
    expect(await waitedFor({ others: [other], newer: ['rollout production-20260302-1'] })).toBe(true);
    expect(await waitedFor({ newer: ['rollout production-20260302-1'] })).toBe(false);
  });

  it('not for what we lead ourselves', async () => {
    expect(await waitedFor({ others: [other], active: ['production-20260302-1'] })).toBe(false);
  });
});
