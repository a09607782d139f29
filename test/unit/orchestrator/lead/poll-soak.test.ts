import { describe, expect, it } from 'vitest';
import { pollSoakingCollectors } from '../../../../src/orchestrator/lead/poll-soak.ts';
import type { FleetService } from '../../../../src/orchestrator/ports/fleet-service.ts';
import type { FleetCollector } from '../../../../src/rollout/model/collector.ts';
import {
  aCollector,
  aFleetService,
  anUpgrade,
  aPolicy,
  aRollout,
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

const usualSize = 120;
const unknown = { ok: false, failure: { kind: 'notFound', detail: '404' } } as const;
const unavailable = { ok: false, failure: { kind: 'unavailable', sent: true, detail: 'HTTP 503' } } as const;

type Changes = Partial<FleetCollector>;

interface Service {
  /** Collectors on the list; all where left out. */
  readonly listed?: (id: number) => boolean;
  readonly byId?: (id: number) => 'well' | 'dead' | 'unknown' | 'silent';
  readonly rowOf?: (id: number) => Changes;
}

/** A wave of upgraded canaries in a fleet of 120, which soaks. */
async function aSoak(
  canaries: number,
  service: Service,
  ephemeral: ReadonlySet<number> = new Set(),
  fleetSize = usualSize,
) {
  const { listed = () => true, byId = () => 'well', rowOf = () => ({}) } = service;
  const store = makeMemoryRolloutStore();
  const register = makeMemoryFleetRegister();
  const rollout = aRollout({
    fleetSize,
    inventory: { at: t, size: fleetSize - ephemeral.size, missing: 0 },
    policy: aPolicy({ waves: [aWaveRule({ name: 'canary', soakMs: 60_000 })] }),
    waves: [aWave({ name: 'canary', size: canaries, state: 'soaking', soakEndsAt: t })],
  });
  const ids = Array.from({ length: fleetSize }, (_, index) => index + 1);
  const upgrades = ids.map((id) =>
    anUpgrade(
      id <= canaries
        ? { state: 'succeeded', endedAt: t, reason: because(''), weight: 0, lost: false }
        : { state: 'pending' },
      { collectorId: id, order: id, ...(ephemeral.has(id) ? { ephemeral: true } : {}) },
    ),
  );
  await store.freeze({ rollout, upgrades, groups: someGroups(), events: [] });
  const asked: string[] = [];
  const readInventory: FleetService['readInventory'] = async () => {
    asked.push('inventory');
    const collectors = ids
      .filter(listed)
      .map((id) => aCollector({ id, build: targetBuild, ephemeral: ephemeral.has(id), ...rowOf(id) }));
    return { ok: true, value: { readAt: t, serviceAt: t, collectors } };
  };
  const pollCollector: FleetService['pollCollector'] = async ({ collectorId }) => {
    asked.push(`collector ${collectorId}`);
    const how = byId(collectorId);
    if (how === 'unknown') return unknown;
    if (how === 'silent') return unavailable;
    const value = {
      build: targetBuild,
      alive: how === 'well',
      lastSeenAlive: t,
      serviceAt: t,
      upgradable: null,
    };
    return { ok: true, value };
  };
  const parts = { ...quietParts, store, register, fleet: aFleetService({ readInventory, pollCollector }) };
  const signal = new AbortController().signal;
  return {
    asked,
    register,
    look: () => pollSoakingCollectors(parts, aView({ rollout }), 0, signal),
    check: async () => (await store.loadRollout(rollout.id))?.waves[0]?.soakCheck,
    doubt: async () => (await store.loadRollout(rollout.id))?.doubt?.why.kind,
    load: async (id: number) => store.loadUpgrade(rollout.id, id),
  };
}

describe('the poll of a wave that soaks (P14)', () => {
  it('takes one reading of the inventory for all that it lists', async () => {
    const { look, check, asked } = await aSoak(10, {});
    await look();
    expect(asked).toEqual(['inventory']);
    expect(await check()).toMatchObject({ silent: 0, failedPolls: 0 });
  });

  it.each([
    ['is silent', { lastSeenAlive: t - 7 * 60_000 }],
    ['is not alive', { alive: false }],
    ['left the build', { build: '19.1-1' }],
  ])('polls by its id each canary that %s by a row, which may be old', async (_case, changes) => {
    const { look, load, asked } = await aSoak(3, {
      rowOf: (id) => (id <= 2 ? changes : {}),
      byId: (id) => (id === 2 ? 'dead' : 'well'),
    });
    await look();
    expect(asked).toEqual(['inventory', 'collector 1', 'collector 2']);
    expect(await load(1)).toMatchObject({ progress: { state: 'succeeded' } });
    expect(await load(2)).toMatchObject({ progress: { state: 'unconfirmed', lost: true } });
  });

  it('counts one that is gone against the wave, where no deletion explains it', async () => {
    const { look, load } = await aSoak(3, { listed: (id) => id !== 2, byId: () => 'unknown' });
    await look();
    expect(await load(2)).toMatchObject({ progress: { state: 'unconfirmed', weight: 1, lost: false } });
  });

  it.each(['is ephemeral', 'is held by an operator'])(
    'lets one leave that %s, without a failure',
    async (why) => {
      const service = { listed: (id: number) => id !== 2, byId: () => 'unknown' as const };
      const { look, load, register } = await aSoak(3, service, new Set(why === 'is ephemeral' ? [2] : []));
      if (why !== 'is ephemeral')
        await register.holdCollector({
          collectorId: 2,
          by: 'ops',
          reason: 'retired',
          at: t,
        });
      await look();
      expect(await load(2)).toMatchObject({ progress: { state: 'withdrawn', weight: 0 } });
    },
  );

  it('is inconclusive while one gives no answer', async () => {
    const { look, check, load } = await aSoak(3, { listed: (id) => id > 3, byId: () => 'silent' });
    await look();
    expect(await check()).toMatchObject({ failedPolls: 1 });
    expect(await load(1)).toMatchObject({ progress: { state: 'succeeded' } });
  });

  it('believes no 404 while the inventory is empty, and the rollout waits', async () => {
    const { look, check, load, doubt } = await aSoak(3, { listed: () => false, byId: () => 'unknown' });
    await look();
    expect(await check()).toMatchObject({ failedPolls: 1 });
    expect(await load(1)).toMatchObject({ progress: { state: 'succeeded' } });
    expect(await doubt()).toBe('empty');
  });

  it('believes no 404 of one that the inventory lists', async () => {
    const { look, check, load, asked } = await aSoak(1, { byId: () => 'unknown' });
    await look();
    expect(asked).toEqual(['collector 1', 'inventory']);
    expect(await check()).toMatchObject({ failedPolls: 1 });
    expect(await load(1)).toMatchObject({ progress: { state: 'succeeded' } });
  });

  it('is inconclusive as a whole where the inventory lacks many: no hundreds of polls', async () => {
    const { look, check, asked, doubt } = await aSoak(100, { listed: (id) => id > 60 });
    await look();
    expect(asked.filter((what) => what !== 'inventory')).toHaveLength(20);
    expect(await check()).toMatchObject({ failedPolls: 1 });
    expect(await doubt()).toBe('manyGone');
  });
});
