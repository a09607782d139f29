import { expect, it } from 'vitest';
import { loadCauses } from '../../../../src/orchestrator/records/load-causes.ts';
import { loadRolloutSummary } from '../../../../src/orchestrator/records/read-records.ts';
import { causesReadMax } from '../../../../src/rollout/status/causes.ts';
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

it('reads all of them while they are few, because their ages decide when the rollout ends', async () => {
  const none = { failed: 0, retrying: 0, deferred: 0, withdrawn: 0 };
  const pending = anUpgrade({ state: 'pending' }, { collectorId: 1 });
  expect(await causesOf(pending)).toEqual(Object.entries({ ...none, inFlight: 0 }));
  expect(await causesOf(pending, inFlight)).toEqual(Object.entries({ ...none, inFlight: 1 }));
});

it('reads none of many in flight while nothing has failed', async () => {
  const many = Array.from({ length: causesReadMax + 1 }, (_, index) =>
    anUpgradingOne({ taskId: `${index}` }, { collectorId: index + 1, order: index + 1 }),
  );
  expect((await causesOf(...many)).at(-1)).toEqual(['inFlight', 0]);
});
