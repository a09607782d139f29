import { describe, expect, it } from 'vitest';
import { runAtOnce } from '../../../../src/base/steps.ts';
import type { FleetCollector } from '../../../../src/rollout/model/collector.ts';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import { freezeRollback, rollbackPolicy } from '../../../../src/rollout/planning/freeze-rollback.ts';
import { aWebhookGate } from '../../../support/builders/gate-builders.ts';
import {
  aFleet,
  aPolicy,
  aRollout,
  aWaveRule,
  oldBuild,
  startedAt,
  targetBuild,
} from '../../../support/builders.ts';
import { anEndedOne } from '../../../support/upgrade-cases.ts';

const canary = aWaveRule({
  name: 'first',
  size: { kind: 'count', count: 3 },
  soakMs: 1_800_000,
  maxFailures: { kind: 'count', count: 1 },
  approval: true,
  gates: [aWebhookGate()],
});
const left = [{ why: { kind: 'held' }, count: 1, some: [] } as const];

/** Collectors, and the build that each had. */
type Had = ReadonlyArray<readonly [id: number, build: string]>;

/** The rollback of these upgrades, each with the build it had; the fleet shows the target where nothing else is said. */
function frozen(
  had: Had,
  policy: Partial<Policy>,
  shown: (id: number) => Partial<FleetCollector> = () => ({}),
  size = 40,
) {
  const toRollBack = had.map(([collectorId, fromBuild]) =>
    anEndedOne('succeeded', {}, { collectorId, fromBuild, wave: 1, order: 99, lane: 9, stratum: 9 }),
  );
  const fleet = aFleet(size, (id) => ({ build: targetBuild, ...shown(id) }));
  const collectors = new Map(fleet.collectors.map((each) => [each.id, each]));
  const origin = { id: 'r-20260302-2', startedBy: 'ops', createdAt: startedAt + 9, fleet };
  const original = aRollout({ id: 'r-20260302-1', policy: aPolicy(policy), state: 'held' });
  const made = runAtOnce(freezeRollback(original, { toRollBack, left }, collectors, origin));
  const sizes = made.rollout.waves.map(
    (_wave, index) => made.upgrades.filter((each) => each.identity.wave === index).length,
  );
  return { ...made, sizes };
}

const oldBuilds = ['19.441-2', '19.456-3', '19.484-2', '19.506-1'];
const forty = Array.from({ length: 40 }, (_, index) => [index + 1, oldBuilds[index % 4] ?? ''] as const);

describe('the plan of a rollback', () => {
  it('has a canary with the size, soak and failure limit of the first wave, without its approval and gates', () => {
    const policy = {
      waves: [canary, aWaveRule({ approval: true })],
      approval: true,
      onBreach: 'rollback',
    } as const;
    const { rollout, sizes } = frozen(forty, policy);
    expect(sizes).toEqual([3, 37]);
    expect(rollout.waves).toMatchObject([
      { name: 'canary', size: 3, state: 'waiting', gates: [] },
      { name: 'rest', size: 37, state: 'waiting', gates: [] },
    ]);
    expect(rollout.policy).toEqual({ ...rollbackPolicy(aPolicy(policy)), approval: false, onBreach: 'hold' });
    expect(rollout.policy.waves).toMatchObject([
      { soakMs: 1_800_000, maxFailures: { kind: 'count', count: 1 }, approval: false, gates: [] },
      { soakMs: 0, maxFailures: { kind: 'percent', percent: 2 }, approval: false },
    ]);
  });

  it('has the windows and the pace of the policy, without the ramp, and none of its first wave', () => {
    const pace = { perHour: 200, from: 20, factor: 2, after: 50 };
    const own = { pace: { ...pace, perHour: 30 }, windows: [], notBefore: '2026-12-01T08:00' };
    const policy = rollbackPolicy(aPolicy({ pace, waves: [{ ...canary, ...own }, aWaveRule()] }));
    expect(policy.pace).toEqual({ ...pace, from: 200 });
    for (const wave of policy.waves) for (const key of Object.keys(own)) expect(wave).not.toHaveProperty(key);
  });

  it('tries each build that it goes back to, when spreadBy names the build', () => {
    const perStratum = { ...canary, size: { kind: 'perStratum', count: 1 } } as const;
    const { upgrades, sizes } = frozen(forty, {
      spreadBy: ['collectorVersion'],
      waves: [perStratum, aWaveRule()],
    });
    expect(sizes).toEqual([4, 36]);
    const tried = upgrades.filter(({ identity }) => identity.wave === 0);
    expect(new Set(tried.map(({ identity }) => identity.toBuild))).toEqual(new Set(oldBuilds));
    // The build that it leaves is the one that it runs.
    expect(new Set(upgrades.map(({ identity }) => identity.fromBuild))).toEqual(new Set([targetBuild]));
  });

  it.each<[string, Partial<Policy>]>([
    ['the policy has one wave', { waves: [aWaveRule()] }],
    [
      'no collector matches the first wave',
      { waves: [{ ...canary, match: { osName: ['Solaris'] } }, aWaveRule()] },
    ],
  ])('has a canary of one collector a stratum where %s', (_case, policy) => {
    expect(frozen(forty, policy).sizes).toEqual([1, 39]);
  });
});

describe('the canary of a rollback', () => {
  const upTo = (size: number): Had => forty.slice(0, size);
  const large = { ...canary, size: { kind: 'count', count: 20 } } as const;

  it.each([
    [40, [20, 20]],
    [39, [19, 20]],
    [3, [1, 2]],
    [2, [1, 1]],
    [1, [1, 0]],
  ])('has at most half of %i collectors', (size, sizes) => {
    const {
      upgrades,
      groups,
      rollout,
      sizes: frozenSizes,
    } = frozen(upTo(size), { waves: [large, aWaveRule()] });
    expect(frozenSizes).toEqual(sizes);
    expect(rollout.waves.map((wave) => wave.size)).toEqual(sizes);
    expect(upgrades.map(({ identity }) => identity.order)).toEqual(
      upTo(size).map((_had, index) => index + 1),
    );
    const ofStrata = [0, 1].map((wave) =>
      groups.strata.reduce((sum, each) => sum + (each.sizes[wave] ?? 0), 0),
    );
    expect(ofStrata).toEqual(sizes);
  });

  it('has at most half of the collectors, however many strata there are, and counts its strata', () => {
    const perStratum = { ...canary, size: { kind: 'perStratum', count: 1 } } as const;
    const spread = { spreadBy: ['collectorVersion'], waves: [perStratum, aWaveRule()] } as const;
    const { upgrades, groups, sizes } = frozen(upTo(4), spread);
    expect(sizes).toEqual([2, 2]);
    for (const [stratum, each] of groups.strata.entries()) {
      const own = upgrades.filter(({ identity }) => identity.stratum === stratum);
      expect(each.sizes).toEqual(
        [0, 1].map((at) => own.filter(({ identity }) => identity.wave === at).length),
      );
    }
  });
});

describe('a frozen rollback', () => {
  const policy = {
    spreadBy: ['osName'],
    maxInFlightPer: [{ key: 'fields.cluster', cap: 1 }],
    waves: [{ ...canary, size: { kind: 'count', count: 1 } }, aWaveRule()],
  } as const;
  const had: Had = [
    [1, '19.400-1'],
    [2, oldBuild],
    [3, oldBuild],
  ];
  const take = (some: Had) =>
    frozen(
      some,
      policy,
      (id) => ({
        ...(id === 5 && { build: oldBuild }),
        osName: id === 1 ? 'Windows' : 'Linux',
        fields: { cluster: 'c1' },
      }),
      6,
    );

  it('is a separate rollout that refers to the original one', () => {
    expect(take(had).rollout).toMatchObject({
      id: 'r-20260302-2',
      kind: 'rollback',
      startedBy: 'ops',
      createdAt: startedAt + 9,
      plan: { targetBuild: oldBuild, fromBuilds: [targetBuild], fleetSize: 6, leftOut: [] },
      state: 'running',
      reason: { kind: 'rollsBack', rollout: 'r-20260302-1' },
      rollback: {
        original: 'r-20260302-1',
        startedAs: null,
        backTo: [oldBuild, '19.400-1'],
        leftBehind: left,
      },
    });
  });

  it('takes each collector back to its earlier build, in its own groups', () => {
    const { upgrades, groups } = take(had);
    expect(upgrades.map(({ identity }) => identity.order)).toEqual([1, 2, 3]);
    for (const { identity, progress } of upgrades) {
      const isFirst = identity.collectorId === 1;
      expect(identity).toMatchObject({
        rolloutId: 'r-20260302-2',
        wave: identity.order === 1 ? 0 : 1,
        fromBuild: targetBuild,
        toBuild: isFirst ? '19.400-1' : oldBuild,
        stratum: isFirst ? 1 : 0,
        domains: [0],
        eligibleAt: 0,
      });
      expect(progress).toEqual({ state: 'pending' });
    }
    expect(groups.strata.map(({ label }) => label)).toEqual(['Linux', 'Windows']);
    expect(groups.domains).toEqual([{ label: 'fields.cluster = c1', cap: 1 }]);
  });

  it('leaves out collectors that left the fleet, or that run that build already', () => {
    const { upgrades, rollout, sizes } = take([...had, [5, oldBuild], [77, oldBuild]]);
    expect(new Set(upgrades.map(({ identity }) => identity.collectorId))).toEqual(new Set([1, 2, 3]));
    expect(rollout.plan.leftOut).toEqual([
      { kind: 'atTarget', count: 1 },
      { kind: 'leftFleet', count: 1 },
    ]);
    expect(sizes).toEqual([1, 2]);
  });

  it('has a plan named by collectors and builds', () => {
    const hash = take(had).rollout.plan.hash;
    expect(take(had.toReversed()).rollout.plan.hash).toBe(hash);
    expect(take(had.slice(1)).rollout.plan.hash).not.toBe(hash);
    expect(take([[1, oldBuild], ...had.slice(1)]).rollout.plan.hash).not.toBe(hash);
  });
});
