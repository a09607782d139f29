import { describe, expect, it } from 'vitest';
import { seededChance } from '../../../src/base/chance.ts';
import { runStep } from '../../../src/orchestrator/step/run-step.ts';
import { makeQuietPolls } from '../../../src/rehearsal/play/quiet-polls.ts';
import { makeMemoryFleetRegister } from '../../../src/rehearsal/store/memory-fleet-register.ts';
import { makeMemoryRolloutStore } from '../../../src/rehearsal/store/memory-rollout-store.ts';
import { makeVirtualBudget } from '../../../src/rehearsal/world/virtual-budget.ts';
import { fleetAsOf, makeVirtualService } from '../../../src/rehearsal/world/virtual-service.ts';
import type { ProgressIn } from '../../../src/rollout/model/upgrade.ts';
import { freezePlan } from '../../../src/rollout/planning/freeze-plan.ts';
import { makePlan } from '../../../src/rollout/planning/plan.ts';
import { aFleet, aPolicy, startedAt, targetBuild } from '../../support/builders.ts';
import { quietParts } from '../../support/quiet-parts.ts';
import { saveUpgrade } from '../../support/store/store-changes.ts';

const minute = 60_000;
const signal = new AbortController().signal;

/** A rollout of one collector whose task runs for half an hour, right after its create. */
async function aRunningTask() {
  let now = startedAt;
  const clock = { now: () => now };
  const policy = aPolicy();
  const snapshot = fleetAsOf(aFleet(1).collectors, startedAt);
  const budget = makeVirtualBudget(1_000, []);
  const fateOf = () => ({ durationMs: 29 * minute, ends: { kind: 'succeeded' } }) as const;
  const service = makeVirtualService({
    snapshot,
    targetBuild,
    fateOf,
    clock,
    slots: 1,
    budget,
  });
  const store = makeMemoryRolloutStore(clock.now);
  const id = `${policy.name}-20260302-1`;
  const origin = { id, policy, startedBy: 'test', createdAt: now, fleet: snapshot };
  const frozen = freezePlan(makePlan(policy, targetBuild, snapshot, id), origin);
  await store.freeze({ ...frozen, events: [] });
  const [pending] = frozen.upgrades;
  if (pending === undefined) throw new Error('nobody is planned');
  const { collectorId } = pending.identity;
  const parts = {
    ...{ store, clock, fleet: service.fleet, register: makeMemoryFleetRegister() },
    ...{ random: seededChance(1), answerWithinMs: 35_000, claims: quietParts.claims },
    sink: { report: () => {}, note: () => {} },
    wakeUps: { wake: () => {} },
    sleep: async () => {},
  };
  const created = await service.fleet.reserveCreate({ collectorId, toBuild: targetBuild }, signal);
  const answer = created.ok ? await created.value.send() : created;
  if (!answer.ok) throw new Error('no task');
  const progress: ProgressIn<'upgrading'> = {
    state: 'upgrading',
    ...{ taskId: answer.value.taskId, startedAt: now, polledAt: now, ending: null },
    ...{ deadlineAt: now + policy.upgrade.deadlineMs, dueAt: now + minute },
  };
  const tally = { ...pending.tally, attempts: 1, firstStartedAt: now };
  await saveUpgrade(
    store,
    { before: pending, after: { ...pending, tally, progress, rev: 2 }, events: [] },
    null,
  );
  const of = { rolloutId: id, collectorId };
  return {
    budget,
    upgrade: () => store.peek(id, collectorId),
    goTo: (at: number) => (now = at),
    pollQuietly: () =>
      makeQuietPolls(parts, { store, service, policy, lists: { nextAt: () => now } })(of, now),
    pollAsEver: () => runStep(parts, of, signal),
  };
}

describe('a quiet poll', () => {
  it('leaves the record and the next poll as a step of the daemon does', async () => {
    const [quiet, usual] = [await aRunningTask(), await aRunningTask()];
    for (let polls = 0; polls < 4; polls += 1) {
      const { progress } = usual.upgrade() ?? {};
      const dueAt = progress !== undefined && 'dueAt' in progress ? progress.dueAt : 0;
      for (const each of [quiet, usual]) each.goTo(dueAt);
      const at = quiet.pollQuietly();
      expect(await usual.pollAsEver()).toEqual({ job: 'comeBack', at });
      expect(quiet.upgrade()).toEqual(usual.upgrade());
    }
    expect(quiet.budget.requests).toBe(1);
  });

  it('leaves a task that has ended, or is past its deadline, to the daemon', async () => {
    const { goTo, pollQuietly, upgrade, budget } = await aRunningTask();
    const before = { upgrade: upgrade(), requests: budget.requests };
    goTo(startedAt + 30 * minute);
    expect(pollQuietly()).toBeUndefined();
    expect({ upgrade: upgrade(), requests: budget.requests }).toEqual(before);
  });
});
