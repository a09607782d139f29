import { expect, it } from 'vitest';
import { consequenceText } from '../../../../src/rollout/messages/consequences.ts';
import { aRolloutStatus } from '../../../support/fake-operations.ts';

const reader = { now: 0, showAt: () => '08:00' };

it('a retry of chosen failures does not claim all of them (P15)', () => {
  const status = aRolloutStatus({});
  const failed = { ...status, counts: { ...status.counts, failed: 3 } };
  const [all] = consequenceText('retry', failed, reader);
  const [chosen] = consequenceText('retry', failed, { ...reader, choosesFailures: true });
  expect(all).toBe('To be upgraded again, with new attempts: 3 failed collectors.');
  expect(chosen).toBe('To be upgraded again, with new attempts: the chosen ones of 3 failed collectors.');
});

it('an approval that no wave waits for any more promises nothing', () => {
  const status = aRolloutStatus({ state: 'running' });
  expect(consequenceText('approve', status, reader)).toEqual([]);
});
