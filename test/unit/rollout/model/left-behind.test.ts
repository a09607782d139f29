import { expect, it } from 'vitest';
import { showLeftBehind } from '../../../../src/rollout/messages/exclusions.ts';
import { leftBehind } from '../../../../src/rollout/model/left-behind.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';

it('collectors left behind are kept with more names than a status shows, and not with all', () => {
  const upgrades = Array.from({ length: 60 }, (_, index) =>
    anEndedOne('succeeded', {}, { collectorName: `web-${index}` }),
  );
  const [held] = leftBehind({ kind: 'held' }, upgrades);
  if (held === undefined) throw new Error('nothing was left');
  expect([held.count, held.some.length]).toEqual([60, 50]);
  expect(showLeftBehind(held)).toMatchObject({
    count: 60,
    names: [{}, {}, {}].map(() => expect.any(String)),
  });
});
