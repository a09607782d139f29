import { expect, it } from 'vitest';
import { compareUrgency } from '../../../../src/rollout/status/compare-urgency.ts';
import { aRolloutStatus } from '../../../support/fake-operations.ts';

it('orders policies by their names, with numbers as numbers, where nothing is more urgent', () => {
  const of = (policy: string, changes: Parameters<typeof aRolloutStatus>[0] = {}) =>
    aRolloutStatus({ policy, id: `${policy}-20260302-1`, ...changes });
  const ended = { state: 'succeeded', endedAt: 1 } as const;
  const statuses = [
    of('p12'),
    of('4', ended),
    of('p8'),
    of('p20', { state: 'held' }),
    of('p4'),
    of('10', ended),
  ];
  const order = statuses.toSorted(compareUrgency).map(({ policy }) => policy);
  expect(order).toEqual(['p20', 'p4', 'p8', 'p12', '4', '10']);
  expect(compareUrgency(undefined, of('p4'))).toBeGreaterThan(0);
});
