import { describe, expect, it } from 'vitest';
import type { FleetService } from '../../../../src/orchestrator/ports/fleet-service.ts';
import { checkActive } from '../../../../src/orchestrator/scan/check-active.ts';
import { noMemory } from '../../../../src/orchestrator/scan/read-plan.ts';
import type { Rollout } from '../../../../src/rollout/model/rollout.ts';
import {
  aFleet,
  aFleetService,
  anUpgrade,
  aPolicy,
  aRollout,
  aTarget,
  because,
  someGroups,
  startedAt as t,
  targetBuild,
} from '../../../support/builders.ts';
import { lossless } from '../../../support/lossless.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';
import { pendingOnes } from '../../../support/store/store-changes.ts';

const newerBuild = '19.600-1';
const policy = aPolicy({ target: aTarget({ supersede: true }) });

/** What a tick makes of a rollout for which a newer build is out. `meanwhile` happens while the builds are read. */
async function tick(of: Partial<Rollout>, meanwhile?: (rollout: Rollout) => Rollout) {
  const store = makeMemoryRolloutStore();
  const rollout = aRollout({ policy, ...of });
  await store.freeze({
    rollout,
    upgrades: [anUpgrade({ state: 'pending' })],
    groups: someGroups(),
    events: [],
  });
  const fleet = aFleetService({
    listBuilds: async () => {
      const changed = meanwhile?.(rollout);
      if (changed !== undefined)
        await store.saveRollout({ rollout: changed, expectedRev: 1, events: [], brake: 'set' }, null);
      const builds = [targetBuild, newerBuild].map((version) => ({
        version,
        latest: version === newerBuild,
      }));
      return { ok: true, value: builds };
    },
  });
  const parts = {
    ...quietParts,
    store,
    fleet,
    register: makeMemoryFleetRegister(),
  };
  const memory = {
    recallBuilds: async () => ({ seen: { firstSeen: new Map(), at: t }, held: new Map() }),
    recallCollectors: async () => ({}),
  };
  await checkActive(parts, policy, rollout.id, memory);
  return lossless(await store.loadRollout(rollout.id)).state;
}

describe('a newer build, where the policy takes it up at once', () => {
  it.each(['running', 'awaitingApproval'] as const)('ends a rollout that is %s', async (state) => {
    expect(await tick({ state })).toBe('superseded');
  });

  it.each(['paused', 'held'] as const)(
    'leaves one that is %s to whoever has to speak (P4)',
    async (state) => {
      expect(await tick({ state, reason: because('by ann: an incident') })).toBe(state);
    },
  );

  it('leaves one alone that is paused while the builds are read (P4)', async () => {
    const paused = (rollout: Rollout) => ({ ...rollout, state: 'paused', rev: 2 }) as const;
    expect(await tick({ state: 'running' }, paused)).toBe('paused');
  });

  it('leaves a rollback alone', async () => {
    expect(await tick({ kind: 'rollback', rollbackOf: 'production-20260301-1' })).toBe('running');
  });
});

const offered = async () => ({ ok: true, value: [{ version: targetBuild, latest: true }] }) as const;

async function unreadBy(fleet: Partial<FleetService>, signal?: AbortSignal) {
  const store = makeMemoryRolloutStore(() => t);
  const rollout = aRollout();
  await store.freeze({ rollout, upgrades: pendingOnes(1), groups: someGroups(), events: [] });
  const parts = {
    ...quietParts,
    store,
    register: makeMemoryFleetRegister(),
    fleet: aFleetService(fleet),
  };
  return checkActive(parts, rollout.policy, rollout.id, noMemory, signal);
}

describe('the look after a rollout on its way', () => {
  it('says that the fleet is empty, which no time makes plausible (P14)', async () => {
    const readFleet = async () => ({ ok: true, value: aFleet(0) }) as const;
    expect(await unreadBy({ listBuilds: offered, readFleet })).toMatchObject({ isFleetEmpty: true });
  });

  it('says nothing when it was called off', async () => {
    expect(await unreadBy({}, AbortSignal.abort())).toBe(undefined);
    expect(await unreadBy({ listBuilds: offered }, AbortSignal.abort())).toBe(undefined);
  });
});
