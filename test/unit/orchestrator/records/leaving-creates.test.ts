import { expect, it } from 'vitest';
import { sendWithinMs } from '../../../../src/orchestrator/ports/fleet-service.ts';
import { waitForLeavingCreates } from '../../../../src/orchestrator/records/change-rollout.ts';
import { evolve } from '../../../../src/rollout/upgrade/evolve.ts';
import { aContext, aRollout, startedAt as t } from '../../../support/builders.ts';
import { aHouse } from '../../../support/house.ts';
import { saveUpgrade } from '../../../support/store/store-changes.ts';
import { aQueuedOne } from '../../../support/upgrade-cases.ts';

it.each([
  ['in time', 0, false, sendWithinMs + 10],
  ['two seconds behind', -2_000, false, sendWithinMs + 10],
  ['an hour behind', -3_600_000, false, sendWithinMs + 10],
  ['two seconds ahead', 2_000, false, sendWithinMs + 10],
  ['an hour ahead', 3_600_000, false, sendWithinMs + 10],
  ['correct, and whose create was answered', 0, true, 0],
])(
  'a stop waits for creates that are being sent, by a daemon whose clock is %s (P4)',
  async (_is, offMs, isAnswered, waitMs) => {
    const { id, rev } = aRollout();
    const queued = aQueuedOne();
    const { store, clock } = await aHouse({ upgrades: [queued] });
    const sent = evolve(queued, { kind: 'createSent', at: t + offMs }, aContext());
    expect(await store.saveIntent({ before: queued, after: sent, events: [] }, rev)).toBe('saved');
    if (isAnswered) {
      const created = evolve(sent, { kind: 'created', at: t + offMs, taskId: '7' }, aContext());
      await saveUpgrade(store, { before: sent, after: created, events: [] });
    }
    const sleep = async (forMs: number) => {
      clock.at += forMs;
    };
    await waitForLeavingCreates({ store, sleep }, id);
    expect(clock.at - t).toBe(waitMs);
  },
);
