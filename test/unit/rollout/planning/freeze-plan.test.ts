import { describe, expect, it } from 'vitest';
import { makePlan } from '../../../../src/rollout/planning/plan.ts';
import { aStatus, aWebhookGate } from '../../../support/builders/gate-builders.ts';
import {
  aFleet,
  aPolicy,
  aRollout,
  aWave,
  aWaveRule,
  oldBuild,
  startedAt,
  targetBuild,
} from '../../../support/builders.ts';
import { frozenFor } from '../../../support/planned-fleet.ts';

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
  build: id % 2 === 0 ? oldBuild : '19.400-1',
  fields: id < 4 ? { cluster: 'c1' } : {},
  alive: id !== 20,
}));

describe('a frozen plan', () => {
  it('is a rollout whose waves have not started', () => {
    const waiting = { state: 'waiting', openedAt: null } as const;
    const { rollout } = frozenFor(policy, fleet);
    expect(rollout).toEqual(
      aRollout({
        id: 'r-20260302-1',
        policy,
        plan: {
          fromBuilds: ['19.400-1', oldBuild],
          fromCounts: [10, 9],
          hash: makePlan(policy, targetBuild, fleet, 'r-20260302-1').hash,
          fleetSize: 20,
          leftOut: [{ kind: 'notAlive', count: 1 }],
        },
        createdAt: startedAt + 5,
        inventory: { baseline: { at: startedAt, size: 20, missing: 0 } },
        reason: { kind: 'asked', by: 'schedule', words: '' },
        waves: [
          aWave({ ...waiting, name: 'canary', size: 2, gates: [aStatus(), aStatus()] }),
          aWave({ ...waiting, name: 'rest', size: 17, chain: 2 }),
        ],
      }),
    );
  });

  it('waits where the policy requires approval', () => {
    expect(frozenFor({ ...policy, approval: true }, fleet).rollout).toMatchObject({
      state: 'awaitingApproval',
      reason: { kind: 'awaitsApproval' },
    });
  });

  it('names the present builds, the most frequent first, at most five', () => {
    const builds = ['1.1-1', '1.2-1', '1.2-1', '1.3-1', '1.4-1', '1.5-1', '1.6-1'];
    const many = aFleet(builds.length, (id) => ({ build: builds[id - 1] ?? '' }));
    const { fromBuilds } = frozenFor(aPolicy(), many).rollout.plan;
    expect(fromBuilds).toEqual(['1.2-1', '1.1-1', '1.3-1', '1.4-1', '1.5-1']);
  });

  it('makes only collectors with a recent heartbeat eligible without another poll (P1)', () => {
    const heard = aFleet(2, (id) => ({ lastSeenAlive: startedAt - (id === 1 ? 15_000 : 30_000) }));
    const eligibleAt = frozenFor(aPolicy(), heard).upgrades.map(
      ({ identity }) => [identity.collectorId, identity.eligibleAt] as const,
    );
    expect(new Map(eligibleAt)).toEqual(
      new Map([
        [1, startedAt],
        [2, 0],
      ]),
    );
  });
});
