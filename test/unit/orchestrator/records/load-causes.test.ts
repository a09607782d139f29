import { expect, it } from 'vitest';
import { loadCauses } from '../../../../src/orchestrator/records/load-causes.ts';
import { loadRolloutSummary } from '../../../../src/orchestrator/records/read-records.ts';
import { anUpgrade, anUpgradingOne, aRollout, startedAt } from '../../../support/builders.ts';
import { aHouse } from '../../../support/house.ts';
import { anEndedOne, aRetryingOne } from '../../../support/upgrade-cases.ts';

const rollout = aRollout();
const inFlight = anUpgradingOne({ taskId: '3' }, { collectorId: 3, order: 3 });

async function causesOf(...upgrades: ReadonlyArray<ReturnType<typeof anUpgrade>>) {
  const { parts } = await aHouse({ rollout, upgrades });
  const view = await loadRolloutSummary(parts, rollout.id, startedAt);
  if (view === undefined) throw new Error('the rollout is gone');
  const causes = await loadCauses(parts, view);
  return Object.entries(causes).map(([group, found]) => [group, found.length]);
}

it('reads upgrades in flight beside failures, since the attempts before may have failed', async () => {
  const failed = anEndedOne('failed', { failureClass: 'permanent' }, { collectorId: 1 });
  const retried = aRetryingOne(startedAt, 'disk is full', { collectorId: 2, order: 2 });
  expect(await causesOf(failed, retried, inFlight)).toEqual(
    Object.entries({ failed: 1, retrying: 1, deferred: 0, withdrawn: 0, inFlight: 1 }),
  );
});

it('reads none of them while nothing has failed', async () => {
  expect(await causesOf(anUpgrade({ state: 'pending' }, { collectorId: 1 }), inFlight)).toEqual(
    Object.entries({ failed: 0, retrying: 0, deferred: 0, withdrawn: 0, inFlight: 0 }),
  );
});
