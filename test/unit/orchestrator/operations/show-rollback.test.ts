import { expect, it } from 'vitest';
import { showRollback } from '../../../../src/orchestrator/operations/show-rollback.ts';
import { aRollout } from '../../../support/builders.ts';
import { aHouse, away, failing, over, upgradesLike } from '../../../support/house.ts';

it.each([
  [
    { kind: 'cancelled', sent: false },
    'the available builds are unknown: the service gave no answer within 5s',
  ],
  [away, 'the available builds are unknown: HTTP 503'],
] as const)('says why the builds for a rollback are unknown: %o', async (failure, reason) => {
  const { parts } = await aHouse({
    upgrades: upgradesLike(1, over('succeeded')),
    fleet: { listBuilds: failing(failure) },
  });
  expect(await showRollback(parts, aRollout().id)).toEqual({
    kind: 'unavailable',
    reason,
  });
});
