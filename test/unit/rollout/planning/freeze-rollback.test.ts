import { describe, expect, it } from 'vitest';
import type { Policy } from '../../../../src/rollout/model/policy.ts';
import { freezeRollback } from '../../../../src/rollout/planning/freeze-rollback.ts';
import {
  aCollector,
  aFleet,
  anUpgrade,
  aPolicy,
  aRollout,
  aWaveRule,
  because,
  targetBuild,
} from '../../../support/builders.ts';

const canary = aWaveRule({
  name: 'first',
  size: { kind: 'count', count: 3 },
  soakMs: 1_800_000,
  maxFailures: { kind: 'count', count: 1 },
  approval: true,
  gates: [],
});
const oldBuilds = ['19.441-2', '19.456-3', '19.484-2', '19.506-1'];

/** The rollback of 40 collectors, which had these builds in turn. */
function frozen(policy: Partial<Policy>, size = 40) {
  const origin = { id: 'production-20260302-2', startedBy: 'x', createdAt: 0, fleet: aFleet(0) };
  const ids = Array.from({ length: size }, (_, index) => index + 1);
  const collectors = new Map(ids.map((id) => [id, aCollector({ id, build: targetBuild })]));
  const takenBack = ids.map((collectorId) =>
    anUpgrade(
      { state: 'succeeded', endedAt: 0, reason: because(''), weight: 0, lost: false },
      { collectorId, fromBuild: oldBuilds[collectorId % oldBuilds.length] ?? '' },
    ),
  );
  const original = aRollout({ policy: aPolicy(policy) });
  const { rollout, upgrades } = freezeRollback(original, { takenBack, left: [] }, collectors, origin);
  const sizes = rollout.waves.map(
    (_wave, index) => upgrades.filter(({ identity: { wave } }) => wave === index).length,
  );
  return { rollout, upgrades, sizes };
}

describe('the plan of a rollback', () => {
  it('has a canary of the size, soak and failure limit of the first wave, without its approval', () => {
    const { rollout, sizes } = frozen({
      waves: [canary, aWaveRule({ approval: true })],
      onBreach: 'rollback',
    });
    expect(sizes).toEqual([3, 37]);
    expect(rollout.waves.map(({ name, size }) => [name, size])).toEqual([
      ['canary', 3],
      ['rest', 37],
    ]);
    expect(rollout.policy).toMatchObject({
      onBreach: 'hold',
      waves: [
        { soakMs: 1_800_000, maxFailures: { kind: 'count', count: 1 }, approval: false, gates: [] },
        { soakMs: 0, maxFailures: { kind: 'percent', percent: 2 }, approval: false },
      ],
    });
  });

  it('tries each build that it goes back to, where strata differ by build', () => {
    const perStratum = { ...canary, size: { kind: 'perStratum', count: 1 } } as const;
    const { upgrades, sizes } = frozen({ spreadBy: ['collectorVersion'], waves: [perStratum, aWaveRule()] });
    expect(sizes).toEqual([4, 36]);
    const tried = upgrades.filter(({ identity: { wave } }) => wave === 0);
    expect(new Set(tried.map(({ identity: { toBuild } }) => toBuild))).toEqual(new Set(oldBuilds));
    // The build that it leaves is the one that it runs.
    expect(new Set(upgrades.map(({ identity: { fromBuild } }) => fromBuild))).toEqual(new Set([targetBuild]));
  });

  it.each<[string, Partial<Policy>]>([
    ['the policy has one wave', { waves: [aWaveRule()] }],
    [
      'no collector matches the first wave',
      { waves: [{ ...canary, match: { osName: ['Solaris'] } }, aWaveRule()] },
    ],
  ])('has a canary of one collector a stratum where %s', (_case, policy) => {
    expect(frozen(policy).sizes).toEqual([1, 39]);
  });
});
