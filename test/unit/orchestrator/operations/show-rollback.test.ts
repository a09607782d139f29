import { expect, it } from 'vitest';
import { showRollback } from '../../../../src/orchestrator/operations/show-rollback.ts';
import { aPolicy, aRollout, oldBuild, startedAt } from '../../../support/builders.ts';
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

it('shows the limits of the config in force, which an ended rollout gets when its rollback starts', async () => {
  const { parts } = await aHouse({
    rollout: aRollout({ state: 'aborted', endedAt: startedAt }),
    upgrades: upgradesLike(1, over('succeeded')),
    fleet: { listBuilds: async () => ({ ok: true, value: [{ version: oldBuild, latest: false }] }) },
  });
  const freeze = { from: '2026-01-01T00:00', to: '2027-01-01T00:00', timeZone: 'UTC', reason: 'audit' };
  const present = aPolicy({ concurrency: 3, freezes: [freeze] });
  const versionOf = () => ({ generation: 1, isReinstated: false });
  const result = await showRollback(
    { ...parts, rollouts: () => [present], configs: { ...parts.configs, versionOf } },
    aRollout().id,
  );
  expect(result).toMatchObject({
    kind: 'shown',
    preview: { concurrency: 3, window: { isOpen: false, reason: 'frozen: audit' } },
  });
});
