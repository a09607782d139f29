import { describe, expect, it } from 'vitest';
import type { FleetCollector } from '../../../../src/rollout/model/collector.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import type { Upgrade } from '../../../../src/rollout/model/upgrade.ts';
import { freezePlan } from '../../../../src/rollout/planning/freeze-plan.ts';
import { freezeRollback, rollbackPolicy } from '../../../../src/rollout/planning/freeze-rollback.ts';
import { makePlan } from '../../../../src/rollout/planning/plan.ts';
import {
  aFleet,
  anUpgrade,
  aPolicy,
  aRollout,
  aStatus,
  aWave,
  aWaveRule,
  aWebhookGate,
  because,
  oldBuild,
  startedAt,
  targetBuild,
} from '../../../support/builders.ts';

const gate = aWebhookGate();
const policy = aPolicy({
  spreadBy: ['osName'],
  maxInFlightPer: [{ key: 'fields.cluster', cap: 1 }],
  waves: [
    aWaveRule({ name: 'canary', size: { kind: 'perStratum', count: 1 }, gates: [gate, gate] }),
    aWaveRule(),
  ],
});
const fleet = aFleet(20, (id) => ({
  osName: id % 4 === 0 ? 'Windows' : 'Linux',
  fields: id < 4 ? { cluster: 'c1' } : {},
  build: id % 2 === 0 ? oldBuild : '19.400-1',
  alive: id !== 20,
}));
const freeze = (changes: Partial<Policy> = {}) => {
  const changed = { ...policy, ...changes };
  const plan = makePlan(changed, targetBuild, fleet, 'r-20260302-1');
  const origin = { id: 'r-20260302-1', startedBy: 'schedule', createdAt: startedAt + 5, fleet };
  return { plan, ...freezePlan(plan, { ...origin, policy: changed }) };
};

describe('a frozen plan', () => {
  it('is a rollout of which nothing has begun', () => {
    const { plan, rollout } = freeze();
    expect(rollout).toEqual({
      id: 'r-20260302-1',
      kind: 'upgrade',
      backTo: [],
      leftBehind: [],
      rollbackOf: null,
      rollbackId: null,
      policy,
      targetBuild,
      fromBuilds: ['19.400-1', oldBuild],
      planHash: plan.hash,
      groupsRev: 1,
      startedBy: 'schedule',
      createdAt: startedAt + 5,
      fleetReadAt: startedAt,
      fleetSize: 20,
      inventory: { at: startedAt, size: 20, missing: 0 },
      state: 'running',
      reason: { kind: 'asked', by: 'schedule', words: '' },
      waves: [
        aWave({
          name: 'canary',
          size: 2,
          state: 'waiting',
          openedAt: null,
          gates: [aStatus(), aStatus()],
        }),
        aWave({ name: 'rest', size: 17, chain: 2, state: 'waiting', openedAt: null }),
      ],
      heldStrata: [],
      acknowledgedStrata: [],
      endsWithoutHeld: false,
      drift: null,
      leftOut: [{ kind: 'notAlive', count: 1 }],
      endedAt: null,
      rev: 1,
    });
  });

  it('waits where the policy asks for approval', () => {
    expect(freeze({ approval: true }).rollout).toMatchObject({
      state: 'awaitingApproval',
      reason: { kind: 'awaitsApproval' },
    });
  });

  it('names the builds it starts from, the most frequent first, five at most', () => {
    const builds = ['1.1-1', '1.2-1', '1.2-1', '1.3-1', '1.4-1', '1.5-1', '1.6-1'];
    const many = aFleet(builds.length, (id) => ({ build: builds[id - 1] ?? '' }));
    const plan = makePlan(aPolicy(), targetBuild, many, 'seed');
    const origin = { id: 'r', policy: aPolicy(), startedBy: 'schedule', createdAt: 0, fleet: many };
    expect(freezePlan(plan, origin).rollout.fromBuilds).toEqual([
      '1.2-1',
      '1.1-1',
      '1.3-1',
      '1.4-1',
      '1.5-1',
    ]);
  });

  it('takes only those it heard from for fit without another look (P1)', () => {
    const heard = aFleet(2, (id) => ({ lastSeenAlive: startedAt - (id === 1 ? 15_000 : 30_000) }));
    const plan = makePlan(aPolicy(), targetBuild, heard, 'seed');
    const origin = { id: 'r', policy: aPolicy(), startedBy: 'schedule', createdAt: startedAt, fleet: heard };
    const eligibleAt = new Map(
      freezePlan(plan, origin).upgrades.map((each) => [each.identity.collectorId, each.identity.eligibleAt]),
    );
    expect(eligibleAt).toEqual(
      new Map([
        [1, startedAt],
        [2, 0],
      ]),
    );
  });
});

describe('a rollback', () => {
  const original = aRollout({
    id: 'r-20260302-1',
    policy: {
      ...policy,
      approval: true,
      onBreach: 'rollback',
      waves: [
        aWaveRule({ name: 'first', size: { kind: 'count', count: 1 }, gates: [gate] }),
        aWaveRule({ maxFailures: { kind: 'count', count: 7 } }),
      ],
    },
    state: 'held',
  });
  const upgraded = (collectorId: number, fromBuild: string): Upgrade =>
    anUpgrade(
      { state: 'succeeded', endedAt: startedAt, reason: because(''), weight: 0, lost: false },
      { collectorId, fromBuild, wave: 1, order: 40 + collectorId, lane: 9, stratum: 9 },
    );
  const left = [{ why: { kind: 'held' }, count: 1, some: [] } as const];
  const now = aFleet(6, (id) => ({
    build: id === 5 ? oldBuild : targetBuild,
    osName: id === 1 ? 'Windows' : 'Linux',
    fields: { cluster: 'c1' },
    lastSeenAlive: id === 2 ? startedAt - 60_000 : startedAt,
  }));
  const take = (upgrades: readonly Upgrade[], collectors: readonly FleetCollector[] = now.collectors) => {
    const origin = { id: 'r-20260302-2', startedBy: 'ops', createdAt: startedAt + 9, fleet: now };
    return freezeRollback(
      original,
      { takenBack: upgrades, left },
      new Map(collectors.map((each) => [each.id, each])),
      origin,
    );
  };
  const upgrades = [upgraded(1, '19.400-1'), upgraded(2, oldBuild), upgraded(3, oldBuild)];

  it('is a rollout of its own that takes the other one back', () => {
    const { rollout } = take(upgrades);
    expect(rollout).toMatchObject({
      id: 'r-20260302-2',
      kind: 'rollback',
      rollbackOf: 'r-20260302-1',
      rollbackId: null,
      targetBuild: oldBuild,
      backTo: [oldBuild, '19.400-1'],
      leftBehind: left,
      fromBuilds: [targetBuild],
      startedBy: 'ops',
      createdAt: startedAt + 9,
      fleetSize: 6,
      state: 'running',
      reason: { kind: 'takesBack', rollout: 'r-20260302-1' },
      waves: [
        { name: 'canary', size: 1, state: 'waiting', gates: [] },
        { name: 'rest', size: 2, state: 'waiting', gates: [] },
      ],
      leftOut: [],
    });
    expect(rollout.policy).toEqual({ ...rollbackPolicy(original.policy), approval: false, onBreach: 'hold' });
  });

  it('takes each collector to the build it had, in groups of its own', () => {
    const frozen = take(upgrades);
    const byId = new Map(frozen.upgrades.map((each) => [each.identity.collectorId, each]));
    expect([1, 2, 3].map((id) => byId.get(id)?.identity.toBuild)).toEqual(['19.400-1', oldBuild, oldBuild]);
    expect(frozen.upgrades.map(({ identity: { order } }) => order)).toEqual([1, 2, 3]);
    for (const each of frozen.upgrades) {
      expect(each).toMatchObject({
        identity: {
          rolloutId: 'r-20260302-2',
          wave: each.identity.order === 1 ? 0 : 1,
          fromBuild: targetBuild,
          stratum: each.identity.collectorId === 1 ? 1 : 0,
          domains: [0],
          eligibleAt: 0,
        },
        progress: { state: 'pending' },
      });
    }
    expect(frozen.groups.strata.map(({ label }) => label)).toEqual(['Linux', 'Windows']);
    expect(frozen.groups.domains).toEqual([{ label: 'fields.cluster = c1', cap: 1 }]);
  });

  it('leaves out who left the fleet, and who runs that build already', () => {
    const frozen = take([...upgrades, upgraded(5, oldBuild), upgraded(77, oldBuild)]);
    expect(
      frozen.upgrades.map(({ identity: { collectorId } }) => collectorId).toSorted((a, b) => a - b),
    ).toEqual([1, 2, 3]);
    expect(frozen.rollout.leftOut).toEqual([
      { kind: 'atTarget', count: 1 },
      { kind: 'leftFleet', count: 1 },
    ]);
    expect(frozen.rollout.waves.map(({ size }) => size)).toEqual([1, 2]);
  });

  it('has a plan named by collectors and builds', () => {
    const hash = take(upgrades).rollout.planHash;
    expect(take(upgrades.toReversed()).rollout.planHash).toBe(hash);
    expect(take(upgrades.slice(1)).rollout.planHash).not.toBe(hash);
    expect(take([upgraded(1, oldBuild), ...upgrades.slice(1)]).rollout.planHash).not.toBe(hash);
  });
});
