import { describe, expect, it } from 'vitest';
import type { Answer, FleetService } from '../../src/orchestrator/ports.ts';
import { reconcile } from '../../src/orchestrator/reconcile.ts';
import { runStep } from '../../src/orchestrator/step.ts';
import type { ServiceFailure } from '../../src/rollout/failure-classes.ts';
import type { Rollout } from '../../src/rollout/rollout.ts';
import type { Upgrade } from '../../src/rollout/upgrade.ts';
import { anUpgrade, anUpgradingOne, aRollout, someGroups, startedAt as t } from '../support/builders.ts';
import { lossless } from '../support/lossless.ts';
import { makeMemoryFleetRegister, makeMemoryRolloutStore } from '../support/memory-rollout-store.ts';

const week = 7 * 86_400_000;
const unasked = async (): Promise<never> => {
  throw new Error('nobody asks this here');
};
const nothing: FleetService = {
  listBuilds: unasked,
  readFleet: unasked,
  readInventory: unasked,
  findCollector: unasked,
  createTask: unasked,
  lookAtTask: unasked,
  lookAtCollector: unasked,
};

/** One upgrade of one rollout, by a clock that the test moves. */
async function aJob(rollout: Rollout, upgrade: Upgrade, fleet: Partial<FleetService>) {
  const store = makeMemoryRolloutStore();
  await store.freeze({ rollout, upgrades: [upgrade], groups: someGroups(), events: [] });
  const clock = { at: t, now: () => clock.at };
  const parts = {
    store,
    register: makeMemoryFleetRegister(),
    clock,
    sink: { tell: () => undefined, note: () => undefined },
    bell: { ring: () => undefined },
    sleep: async () => undefined,
    answerWithinMs: 35_000,
    random: () => 0.5,
    policies: ['production', 'other'],
    fleet: { ...nothing, ...fleet },
  };
  const run = () =>
    runStep(parts, { rolloutId: rollout.id, collectorId: upgrade.collectorId }, new AbortController().signal);
  const stored = async () => lossless(await store.loadUpgrade(rollout.id, upgrade.collectorId));
  /** Comes back whenever it wants to, for a week at most. */
  const runOn = async () => {
    while (clock.at < t + week) {
      const outcome = await run();
      if (outcome.job === 'end') return;
      clock.at = Math.max(clock.at + 1, outcome.at);
    }
  };
  const lead = () =>
    reconcile(
      {
        ...parts,
        queue: { deliver: unasked, redeliver: unasked },
        errands: { run: unasked },
      } as never,
      rollout.id,
      1,
      1_000,
    );
  return { store, clock, run, runOn, lead, stored };
}

const failing =
  (failure: ServiceFailure) =>
  async <T>(): Promise<Answer<T>> => ({ ok: false, failure });

describe('an aborted rollout (P9)', () => {
  const refused: ServiceFailure = { kind: 'refused', code: 'no', status: 400, detail: '' };
  const unavailable: ServiceFailure = { kind: 'unavailable', sent: true, detail: 'HTTP 500' };

  it.each([
    ['a create in doubt', refused, anUpgrade({ state: 'starting', sentAt: t, dueAt: t, startBy: null })],
    ['an adopted one', refused, anUpgradingOne({ taskId: null, dueAt: t })],
    ['its task', refused, anUpgradingOne({ dueAt: t })],
    [
      'a create without an answer',
      unavailable,
      anUpgrade({ state: 'starting', sentAt: t, dueAt: t, startBy: null }),
    ],
    ['a task without an answer', unavailable, anUpgradingOne({ dueAt: t })],
  ])('ends, although looks at %s are always in vain', async (_what, failure, upgrade) => {
    const rollout = aRollout({ state: 'aborted' });
    const job = await aJob(rollout, upgrade, {
      lookAtCollector: failing(failure),
      lookAtTask: failing(failure),
      listBuilds: async () => ({ ok: true, value: [] }),
    });
    await job.runOn();
    await job.lead();
    expect(await job.store.activeRolloutIds(['production'])).toEqual([]);
  });

  it('does not end what a service that is down says nothing about (P13)', async () => {
    const down = failing(unavailable);
    const fleet = { lookAtCollector: down, lookAtTask: down, listBuilds: down };
    const job = await aJob(aRollout({ state: 'aborted' }), anUpgradingOne({ dueAt: t }), fleet);
    await job.runOn();
    expect(await job.stored()).toMatchObject({ state: 'upgrading' });
  });
});
