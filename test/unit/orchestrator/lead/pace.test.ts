import { expect, it } from 'vitest';
import { reconcile } from '../../../../src/orchestrator/lead/reconcile.ts';
import { makeSharedAttributes } from '../../../../src/orchestrator/records/shared-attributes.ts';
import { aFleet, aPolicy } from '../../../support/builders.ts';
import { aHouse } from '../../../support/house.ts';
import { frozenFor } from '../../../support/planned-fleet.ts';
import { quietLead } from '../../../support/quiet-parts.ts';

const id = 'production-20260302-1';

it('an admission gives each create its share of the pace, and the next one waits for their creates', async () => {
  const policy = aPolicy({ concurrency: 100, pace: { perHour: 60, from: 60, factor: 1, after: 1 } });
  const { parts: quiet, store } = await aHouse({ rollout: null });
  await store.freeze({ ...frozenFor(policy, aFleet(9), id), events: [] });
  const parts = {
    ...quiet,
    ...quietLead,
    rollouts: () => [policy],
    sharedAttributes: makeSharedAttributes(),
  };
  for (let pass = 0; pass < 5; pass += 1) await reconcile(parts, id, 1, Number.POSITIVE_INFINITY);
  const all = await store.listUpgrades(id, { offset: 0, limit: 100 });
  const shares = all.flatMap(({ progress, tally }) =>
    progress.state === 'queued' ? [tally.turnPaceMs] : [],
  );
  // Two of 60 an hour may leave together, and 59 in the rest of the hour.
  expect(shares).toEqual([3_600_000 / 59, 3_600_000 / 59].map(Math.ceil));
});
