import { expect, it } from 'vitest';
import { makeEventMatcher, makeOperations } from '../../../../src/orchestrator/operations/make-operations.ts';
import { aRollout, startedAt } from '../../../support/builders.ts';
import { aRolloutEvent } from '../../../support/fake-operations.ts';
import { aHouse } from '../../../support/house.ts';

it('the audit has an entry for each verb that changed something, and none for a verb that changed nothing', async () => {
  const { parts } = await aHouse();
  const operations = makeOperations(parts);
  const asked = { rolloutId: aRollout().id, by: 'ann', reason: 'lunch' } as const;
  await operations.apply({ ...asked, verb: 'pause' });
  await operations.apply({ ...asked, verb: 'pause' });
  await operations.apply({ ...asked, verb: 'approve', wave: 'none' });
  expect(await operations.readAudit(9)).toEqual([
    { at: startedAt, event: 'rollout.paused', subject: asked.rolloutId, by: 'ann', reason: 'lunch' },
  ]);
});

it.each([
  [true, [{}, { since: startedAt }, { type: 'upgrade' }, { type: 'upgrade.failed' }, { type: 'failed' }]],
  [true, [{ collector: '7' }, { collector: 'web' }, { by: 'daemon' }]],
  [
    false,
    [{ since: startedAt + 1 }, { type: 'upgrade.f' }, { type: 'ed' }, { collector: '77' }, { by: 'ann' }],
  ],
])(
  'events are filtered by time, by part of their name, by collector and by operator: %s',
  (isChosen, filters) => {
    const failed = aRolloutEvent({ event: 'upgrade.failed', collectorId: 7, collectorName: 'Web-7' });
    for (const filter of filters) expect(makeEventMatcher(filter)(failed)).toBe(isChosen);
  },
);

it('events are filtered by the verb as an operator types it', () => {
  const matches = makeEventMatcher({ type: 'abort' });
  const events = [aRolloutEvent({ event: 'rollout.aborted' }), aRolloutEvent({ event: 'wave.passed' })];
  expect(events.map(matches)).toEqual([true, false]);
});
