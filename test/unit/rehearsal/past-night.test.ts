import { describe, expect, it } from 'vitest';
import { encodeUpgrade } from '../../../src/admin-api/handlers/upgrade-body.ts';
import { makeSharedAttributes } from '../../../src/orchestrator/records/shared-attributes.ts';
import { playRollout } from '../../../src/rehearsal/play/play-rollout.ts';
import { playSeed, type Scene } from '../../../src/rehearsal/play/play-seed.ts';
import {
  drawPastFates,
  type PastMember,
  type PastNight,
  readPastNight,
  taskEndKey,
} from '../../../src/rehearsal/world/past-night.ts';
import { makeVirtualBudget } from '../../../src/rehearsal/world/virtual-budget.ts';
import { fleetAsOf } from '../../../src/rehearsal/world/virtual-service.ts';
import { drawFates, type WhatIf } from '../../../src/rehearsal/world/what-if.ts';
import type { Policy } from '../../../src/rollout/model/policy.ts';
import { makeStratumPlace } from '../../../src/rollout/planning/former-stratum.ts';
import { aWhatIf } from '../../support/builders/rehearsal-builders.ts';
import { aFleet, aPolicy, aWaveRule, startedAt, targetBuild } from '../../support/builders.ts';

const minute = 60_000;
const soakMs = 10 * minute;
const rest = aWaveRule({ name: 'rest', soakMs, maxFailures: { kind: 'count', count: 3 } });
const canary = aWaveRule({
  ...{ name: 'canary', size: { kind: 'perStratum', count: 1 }, soakMs: 60 * minute },
  maxFailures: { kind: 'count', count: 0 },
} as const);
const careless = aPolicy({ waves: [rest], spreadBy: ['osName'], isolate: 'off', concurrency: 8 });

/** 80 collectors, of which each fourth runs Windows. */
const { collectors } = aFleet(80, (id) => ({ osName: id % 4 === 0 ? 'Windows Server 2022' : 'Linux' }));
const scene: Omit<Scene, 'whatIf'> = {
  ...{ targetBuild, snapshot: fleetAsOf(collectors, startedAt), beganAt: startedAt },
  ...{ requestsPerSecond: 4, passPauseMs: 1_000 },
};
const onWindows = { match: { osName: ['Windows*'] }, share: 1, afterMs: 0 } as const;
const durations = { medianMs: 5 * minute, p95Ms: 12 * minute };

/** A night as the daemon keeps it, and what it came to. */
async function aPast(changes: Partial<WhatIf>, policy: Policy = careless) {
  const { fateOf } = drawFates(aWhatIf({ durations, ...changes }), collectors, 7);
  const { rollout, service, store } = await playRollout({
    ...{ ...scene, seed: 7, policy, fateOf, budget: makeVirtualBudget(4, []) },
    gates: { ask: async () => ({ kind: 'error', detail: 'there is no gate' }) },
    approvedAt: (from) => from,
    sharedAttributes: makeSharedAttributes(),
  });
  const upgrades = await store.listUpgrades(rollout.id, { offset: 0, limit: 1_000 });
  const view = await store.loadView(rollout.id, { now: startedAt, overdueBefore: 0, pageSize: 1 });
  const placeOf = makeStratumPlace(view?.groups ?? { strata: [] }, rollout.policy.spreadBy, undefined);
  const members = upgrades.map((each) => encodeUpgrade(each, { waves: [] }, placeOf, true));
  const taskEnds = new Map(
    upgrades.flatMap(({ identity: { collectorId }, tally }) =>
      (tally.tasks ?? []).map(({ taskId }, index) => {
        const at = (taskId !== null && service.endOf(taskId)) || startedAt;
        return [taskEndKey(collectorId, index + 1), { at, seenDelayMs: 0 }] as const;
      }),
    ),
  );
  const past = readPastNight(rollout, members, taskEnds);
  return { past, members, started: service.creates };
}

const replay = (past: PastNight, policy: Policy, seed = 1) =>
  playSeed({ ...scene, whatIf: aWhatIf(), past }, policy, seed);

describe('a past rollout that is played again', () => {
  it.each(['fails', 'neverReturns', 'dies'] as const)(
    'gives what the night gave with the same policy, and harms fewer with a canary: %s',
    async (how) => {
      const { past, started } = await aPast({ breaks: [{ ...onWindows, how, afterMs: minute }] });
      expect(past).toMatchObject({ state: 'held' });
      expect(past.harmed).toBeGreaterThan(3);
      expect(past.fates.size).toBe(started.size);
      // Only the instants of retries are drawn anew.
      const again = await replay(past, careless);
      expect(again.state).toBe('held');
      expect(Math.abs(again.harmed - past.harmed)).toBeLessThan(2);
      expect(Math.abs(again.upgraded - past.upgraded)).toBeLessThan(2);
      const careful = await replay(past, { ...careless, waves: [canary, rest] });
      expect(careful).toMatchObject({ state: 'held', harmed: 1 });
    },
  );

  it('repeats each attempt with its message, and takes as long', async () => {
    const { past, members } = await aPast({ failures: { once: 0.2, always: 0 } });
    const retried = members.filter(({ attempts }) => attempts === 2);
    expect(retried.length).toBeGreaterThan(3);
    expect(past).toMatchObject({ state: 'succeeded', harmed: 0, upgraded: 80 });
    for (const { collectorId } of retried)
      expect(past.fates.get(collectorId)?.map(({ ends }) => ends)).toEqual([
        { kind: 'failed', message: 'upgrade process exited with code 17' },
        { kind: 'succeeded' },
      ]);
    const { tookMs, upgraded } = await replay(past, careless);
    const lastMs = Math.max(...members.map(({ endedAt }) => endedAt ?? 0)) - startedAt;
    expect(upgraded).toBe(80);
    expect(Math.abs(tookMs - soakMs - lastMs)).toBeLessThan(0.07 * lastMs);
  });
});

describe('what happened to a collector in a past rollout', () => {
  const member = (changes: Partial<PastMember>): PastMember => ({
    ...{ collectorId: 1, stratum: 'Linux', state: 'failed', fromBuild: '19.1-1', startedAt, results: [] },
    ...changes,
  });
  const result = (
    changes: Partial<NonNullable<PastMember['results']>[number]>,
  ): NonNullable<PastMember['results']>[number] => ({
    ...{
      startedAt,
      endedAt: startedAt + 5 * minute,
      state: 'failed',
      reasonKind: 'task',
      detail: 'no space',
    },
    silentMs: null,
    ...changes,
  });
  const rollout = { id: 'production-20260302-1', state: 'held' } as const;
  const read = (...members: readonly PastMember[]) => readPastNight(rollout, members, new Map());

  it('is unknown for an upgrade that was given up, and for one that never started', () => {
    const past = read(
      member({ collectorId: 1, state: 'withdrawn', results: [result({ state: 'withdrawn' })] }),
      member({ collectorId: 2, state: 'pending' }),
      member({ collectorId: 3, state: 'upgrading', results: [result({ endedAt: null })] }),
    );
    expect(past).toMatchObject({ harmed: 0, fates: new Map() });
  });

  it('is a task without an end where none was seen by the deadline, and a service that refused it', () => {
    const past = read(
      member({
        collectorId: 1,
        state: 'timedOut',
        results: [result({ state: 'timedOut', reasonKind: 'noEnd' })],
      }),
      member({ collectorId: 2, results: [result({ reasonKind: 'buildRefused', detail: 'too old' })] }),
    );
    expect(past.harmed).toBe(2);
    expect(past.fates.get(1)?.[0]?.durationMs).toBeGreaterThan(24 * 60 * minute);
    expect(past.fates.get(2)).toEqual([
      { durationMs: 5 * minute, ends: { kind: 'failed', message: 'too old' } },
    ]);
  });

  it('is that of others of its stratum where it never started, by the seed', () => {
    const done = (id: number, stratum: string) =>
      member({ collectorId: id, stratum, state: 'succeeded', results: [result({ state: 'succeeded' })] });
    const failed = (id: number, stratum: string) =>
      member({ collectorId: id, stratum, results: [result({})] });
    const waiting = Array.from({ length: 40 }, (_, index) =>
      member({ collectorId: 100 + index, stratum: index < 20 ? 'Linux' : 'Windows', state: 'pending' }),
    );
    const past = read(
      done(1, 'Linux'),
      done(2, 'Linux'),
      done(3, 'Windows'),
      failed(4, 'Windows'),
      ...waiting,
    );
    const brokenBy = (seed: number) => [...drawPastFates(past, seed).broken].filter((id) => id >= 100);
    const broken = brokenBy(1);
    expect(broken.every((id) => id >= 120)).toBe(true);
    expect(broken.length).toBeGreaterThan(4);
    expect(broken.length).toBeLessThan(16);
    expect(brokenBy(1)).toEqual(broken);
    expect(brokenBy(2)).not.toEqual(broken);
  });
});
