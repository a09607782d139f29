import { expect, it } from 'vitest';
import { makeApplyVerb } from '../../../../src/orchestrator/operations/apply-verb.ts';
import { refuseApproval } from '../../../../src/orchestrator/operations/approve-plan.ts';
import { evolveRollout } from '../../../../src/rollout/decision/evolve-rollout.ts';
import { collectorZone } from '../../../../src/rollout/model/policy.ts';
import { aFleet, aPolicy, startedAt } from '../../../support/builders.ts';
import { aHouse, serving } from '../../../support/house.ts';
import { frozenFor } from '../../../support/planned-fleet.ts';

it('a plan that is made again after a reload knows the time zones of its collectors only if it sorted by them (P7)', async () => {
  const ofCollectors = { days: [1], fromMinute: 0, toMinute: 360, timeZone: collectorZone };
  const zoned = aPolicy({ approval: true, windows: [ofCollectors] });
  const { rollout, upgrades, groups } = frozenFor(zoned, aFleet(3));
  expect(rollout.plan.knowsZones).toBe(true);
  const policy = { ...zoned, windows: [] };
  const reloaded = { kind: 'policyChanged', at: startedAt, policy, generation: 2, differences: [] } as const;
  const { parts, now } = await aHouse({
    rollout: evolveRollout(rollout, reloaded),
    upgrades,
    groups,
    fleet: serving(() => aFleet(4)),
  });
  const refusal = await refuseApproval(parts, await now());
  expect(refusal).toMatchObject({ kind: 'planMoved', drift: { joined: 1 } });
  expect(await now()).toMatchObject({
    plan: { knowsZones: false, drift: { joined: 1 } },
    config: { generation: 2 },
  });
});

it('a plan to a held build is refused for the hold, whatever the fleet is meanwhile', async () => {
  const policy = aPolicy({ approval: true });
  const fleet = serving(() => {
    throw new Error('nobody asks for the fleet');
  });
  const frozen = frozenFor(policy, aFleet(3));
  const { rollout } = frozen;
  const { parts } = await aHouse({ ...frozen, fleet });
  await parts.register.holdBuild({
    build: rollout.plan.targetBuild,
    by: 'ann',
    reason: 'it crashes',
    at: startedAt,
  });
  const apply = makeApplyVerb({
    ...parts,
    rollouts: () => [policy],
    configs: { versionOf: () => ({ generation: 1, isReinstated: false }), beat: async () => undefined },
  });
  const { hash: planHash } = rollout.plan;
  const asked = { rolloutId: rollout.id, verb: 'approve', planHash, by: 'bob', reason: '' } as const;
  expect(await apply(asked)).toMatchObject({ kind: 'refused', refusal: { kind: 'buildHeld' } });
});
