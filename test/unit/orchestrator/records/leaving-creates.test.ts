import { describe, expect, it } from 'vitest';
import { sendWithinMs } from '../../../../src/orchestrator/ports/fleet-service.ts';
import { waitForLeavingCreates } from '../../../../src/orchestrator/records/change-rollout.ts';
import { evolve } from '../../../../src/rollout/upgrade/evolve.ts';
import { aContext, anUpgrade, aRollout, someGroups, startedAt as t } from '../../../support/builders.ts';
import { makeMemoryRolloutStore } from '../../../support/store/memory-rollout-store.ts';

const rollout = aRollout();

/** How long is waited when a daemon whose clock is this far off has just written an intent. */
async function waitAfterAnIntent(offMs: number, answered = false) {
  let now = t;
  const store = makeMemoryRolloutStore(() => now);
  const queued = anUpgrade({ state: 'queued', dueAt: t, freshAt: t, startBy: null });
  await store.freeze({ rollout, upgrades: [queued], groups: someGroups(), events: [] });
  const sent = evolve(queued, { kind: 'createSent', at: t + offMs }, aContext());
  expect(await store.saveIntent({ before: queued, after: sent, events: [] }, rollout.rev)).toBe('saved');
  if (answered) {
    const created = evolve(sent, { kind: 'created', at: t + offMs, taskId: '7' }, aContext());
    await store.saveUpgrade({ before: sent, after: created, events: [] }, null);
  }
  await waitForLeavingCreates(
    {
      store,
      sleep: async (forMs) => {
        now += forMs;
      },
    },
    rollout.id,
  );
  return now - t;
}

describe('waitForLeavingCreates', () => {
  it.each([
    ['in time', 0],
    ['two seconds behind', -2_000],
    ['an hour behind', -3_600_000],
    ['two seconds ahead', 2_000],
    ['an hour ahead', 3_600_000],
  ])(
    'waits out a create that may be leaving, when the clock of its daemon is %s (P4)',
    async (_is, offMs) => {
      expect(await waitAfterAnIntent(offMs)).toBe(sendWithinMs + 10);
    },
  );

  it('waits for none that was answered', async () => {
    expect(await waitAfterAnIntent(0, true)).toBe(0);
  });
});
