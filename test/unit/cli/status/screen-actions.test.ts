import { expect, it } from 'vitest';
import { askOperations } from '../../../../src/cli/status/screen-actions.ts';
import type { UpgradeState } from '../../../../src/rollout/model/upgrade.ts';
import { aRolloutStatus, countsOf, makeFakeOperations } from '../../../support/fake-operations.ts';

it('the live screen lists those that failed, else those to retry, else those in flight', async () => {
  const listed = async (counts: Parameters<typeof countsOf>[0]) => {
    const asked: Array<readonly UpgradeState[] | undefined> = [];
    const actions = askOperations({
      ...makeFakeOperations({ rollouts: [] }),
      searchUpgrades: async (_id, { states }) => {
        asked.push(states);
        return undefined;
      },
    });
    await actions.list({ kind: 'list', status: aRolloutStatus({ counts: countsOf(counts) }), words: '' });
    return asked[0];
  };
  expect(await listed({ failed: 1, retrying: 2 })).toContain('timedOut');
  expect(await listed({ retrying: 2, upgrading: 3 })).toEqual(['retrying']);
  expect(await listed({ upgrading: 3 })).toEqual(
    expect.arrayContaining(['upgrading', 'verifying', 'deferred']),
  );
});
