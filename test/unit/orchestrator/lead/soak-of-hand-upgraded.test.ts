import { describe, expect, it } from 'vitest';
import { pollSoakingCollectors } from '../../../../src/orchestrator/lead/poll-soak.ts';
import { isOnBuild } from '../../../../src/rollout/model/upgrade.ts';
import {
  aFleetService,
  anUpgrade,
  aPolicy,
  aRollout,
  aSummary,
  aView,
  aWave,
  aWaveRule,
  because,
  someGroups,
  startedAt as t,
  targetBuild,
} from '../../../support/builders.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';

/** A canary of two, both withdrawn, one of which someone else had upgraded; it soaks. */
async function aSoak(alive: boolean) {
  const store = makeMemoryRolloutStore();
  const rollout = aRollout({
    policy: aPolicy({ waves: [aWaveRule({ name: 'canary', soakMs: 60_000 })] }),
    waves: [aWave({ name: 'canary', size: 2, state: 'soaking', soakEndsAt: t })],
  });
  const withdrawn = {
    state: 'withdrawn',
    endedAt: t,
    reason: because('left'),
    weight: 0,
    lost: false,
  } as const;
  const upgrades = [
    anUpgrade({ ...withdrawn, onBuild: true }, { collectorId: 1 }),
    anUpgrade(withdrawn, { collectorId: 2, order: 2 }),
  ];
  await store.freeze({ rollout, upgrades, groups: someGroups(), events: [] });
  const polled: number[] = [];
  const fleet = aFleetService({
    pollCollector: async ({ collectorId }) => {
      polled.push(collectorId);
      const value = { build: targetBuild, alive, lastSeenAlive: t, serviceAt: t, upgradable: null };
      return { ok: true, value };
    },
  });
  const parts = { ...quietParts, store, register: makeMemoryFleetRegister(), fleet };
  const view = aView({ rollout, waves: [aSummary({ withdrawn: 2 }, { onBuild: 1 })] });
  await pollSoakingCollectors(parts, view, 0, new AbortController().signal);
  return { polled, upgrade: await store.loadUpgrade(rollout.id, 1) };
}

describe('the soak of a wave with a collector that someone else upgraded (P14)', () => {
  it('polls it, and no other withdrawn one', async () => {
    const { polled, upgrade } = await aSoak(true);
    expect(polled).toEqual([1]);
    expect(upgrade !== undefined && isOnBuild(upgrade)).toBe(true);
  });

  it('takes it for no evidence any more once it is dead, and for no failure', async () => {
    const { upgrade } = await aSoak(false);
    expect(upgrade).toMatchObject({
      progress: { state: 'withdrawn', weight: 0, reason: { kind: 'onBuild', but: { kind: 'died' } } },
    });
    expect(upgrade !== undefined && isOnBuild(upgrade)).toBe(false);
  });
});
