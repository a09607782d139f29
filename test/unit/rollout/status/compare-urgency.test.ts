import { expect, it } from 'vitest';
import { compareUrgency } from '../../../../src/rollout/status/compare-urgency.ts';
import { aRolloutStatus } from '../../../support/fake-operations.ts';

const of = (policy: string, changes: Parameters<typeof aRolloutStatus>[0] = {}) =>
  aRolloutStatus({ policy, id: `${policy}-20260302-1`, ...changes });

it('orders policies by their names, with numbers as numbers, where nothing is more urgent', () => {
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

it('puts a rollback before the rollout that it takes back, also while the rollback waits for a window', () => {
  const rollback = { id: 'web-20260302-2', kind: 'rollback', rollbackOf: 'web-20260302-1' } as const;
  const waiting = of('web', { ...rollback, waitsFor: { kind: 'window', until: 1 } });
  const original = of('web', { state: 'rollingBack', rollbackId: waiting.id });
  expect(waiting.headline.kind).toBe('waitsForWindow');
  for (const each of [waiting, of('web', rollback)])
    expect([original, each].toSorted(compareUrgency)).toEqual([each, original]);
});
