import { expect, it } from 'vitest';
import { makeEventMatcher } from '../../../../src/orchestrator/operations/event-filter.ts';
import { makeOperations } from '../../../../src/orchestrator/operations/make-operations.ts';
import {
  aFleetService,
  anApiBudgetStatus,
  aRollout,
  someGroups,
  startedAt,
} from '../../../support/builders.ts';
import { aRolloutEvent } from '../../../support/fake-operations.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';

it('the audit has each verb that changed something: who, what, when, why; and none that changed nothing', async () => {
  const store = makeMemoryRolloutStore(() => startedAt);
  const rollout = aRollout();
  await store.freeze({ rollout, upgrades: [], groups: someGroups(), events: [] });
  const operations = makeOperations({
    ...quietParts,
    store,
    register: makeMemoryFleetRegister(),
    fleet: aFleetService(),
    clock: { now: () => startedAt },
    policies: [rollout.policy.name],
    rollouts: [rollout.policy],
    scans: { read: async () => [] },
    forecast: () => [],
    readApiBudgetStatus: async () => anApiBudgetStatus(),
  });
  const asked = { rolloutId: rollout.id, by: 'ann', reason: 'lunch' } as const;
  await operations.apply({ ...asked, verb: 'pause' });
  await operations.apply({ ...asked, verb: 'pause' });
  await operations.apply({ ...asked, verb: 'approve', wave: 'none' });
  expect(await operations.readAudit(9)).toEqual([
    { at: startedAt, event: 'rollout.paused', subject: rollout.id, by: 'ann', reason: 'lunch' },
  ]);
});

it('events are chosen by time, by the beginning of their name, by collector and by who asked', () => {
  const failed = { event: 'upgrade.failed', collectorId: 7, collectorName: 'Web-7' } as const;
  const isChosen = (filter: Parameters<typeof makeEventMatcher>[0]) =>
    makeEventMatcher(filter)(aRolloutEvent(failed));
  for (const filter of [{}, { since: startedAt }, { type: 'upgrade' }, { type: 'upgrade.failed' }])
    expect(isChosen(filter)).toBe(true);
  for (const filter of [{ collector: '7' }, { collector: 'web' }, { by: 'daemon' }])
    expect(isChosen(filter)).toBe(true);
  for (const filter of [{ since: startedAt + 1 }, { type: 'upgrade.f' }, { collector: '77' }, { by: 'ann' }])
    expect(isChosen(filter)).toBe(false);
});
