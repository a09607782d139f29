import { expect, it } from 'vitest';
import { planWarnings } from '../../../../src/rollout/messages/plans.ts';
import { aRolloutStatus } from '../../../support/fake-operations.ts';

it('warns of a plan to whose build other upgrades were given up', () => {
  const plan = aRolloutStatus({ id: 'web-20260303-1', state: 'awaitingApproval' });
  const past = [
    plan,
    aRolloutStatus({ id: 'web-20260302-2', kind: 'rollback', state: 'aborted' }),
    aRolloutStatus({ id: 'web-20260302-1', state: 'rollingBack', reason: 'by root: it leaks' }),
    aRolloutStatus({ id: 'web-20260301-1', state: 'succeeded' }),
    aRolloutStatus({ id: 'web-20260228-1', state: 'aborted', targetBuild: '19.500-1' }),
  ];
  expect(planWarnings(plan, past)).toEqual([
    'web-20260302-1 to this build is rolling back: by root: it leaks.',
  ]);
});
