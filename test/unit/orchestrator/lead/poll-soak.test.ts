import { describe, expect, it } from 'vitest';
import { pollSoakingCollectors } from '../../../../src/orchestrator/lead/poll-soak.ts';
import type { FleetCollector } from '../../../../src/rollout/model/collector.ts';
import { isOnBuild } from '../../../../src/rollout/model/upgrade.ts';
import {
  aCollector,
  anUpgrade,
  aPolicy,
  aRollout,
  aSummary,
  aView,
  aWave,
  aWaveRule,
  startedAt as t,
  targetBuild,
} from '../../../support/builders.ts';
import { aHouse, answering, aSighting, away, failing, over } from '../../../support/house.ts';

const fleetSize = 120;
const signal = new AbortController().signal;

interface Service {
  /** Collectors on the list; all where left out. */
  readonly listed?: (id: number) => boolean;
  readonly byId?: (id: number) => 'well' | 'dead' | 'unknown' | 'silent' | 'refused';
  readonly rowOf?: (id: number) => Partial<FleetCollector>;
  readonly ephemeral?: readonly number[];
}

const answers = {
  well: answering(aSighting()),
  dead: answering(aSighting({ alive: false })),
  unknown: failing({ kind: 'notFound', detail: '404' }),
  silent: failing(away),
  refused: failing({ kind: 'refused', code: 'who.knows', detail: '' }),
};

/** A canary that soaks, of so many. */
const soaking = (size: number, inventorySize = fleetSize) =>
  aRollout({
    plan: { fleetSize },
    inventory: { baseline: { at: t, size: inventorySize, missing: 0 } },
    policy: aPolicy({ waves: [aWaveRule({ name: 'canary', soakMs: 60_000 })] }),
    waves: [aWave({ name: 'canary', size, state: 'soaking', soakEndsAt: t })],
  });

/** A wave of upgraded canaries in a fleet of 120. */
async function aSoak(canaries: number, service: Service) {
  const { listed = () => true, byId = () => 'well', rowOf = () => ({}), ephemeral = [] } = service;
  const rollout = soaking(canaries, fleetSize - ephemeral.length);
  const ids = Array.from({ length: fleetSize }, (_, index) => index + 1);
  const upgrades = ids.map((id) =>
    anUpgrade(id <= canaries ? over('succeeded') : { state: 'pending' }, {
      ...{ collectorId: id, order: id },
      ...(ephemeral.includes(id) ? { ephemeral: true } : {}),
    }),
  );
  const asked: string[] = [];
  const { parts, register, now, upgrade, notes } = await aHouse({
    rollout,
    upgrades,
    fleet: {
      readInventory: async () => {
        asked.push('inventory');
        const collectors = ids
          .filter(listed)
          .map((id) =>
            aCollector({ id, build: targetBuild, ephemeral: ephemeral.includes(id), ...rowOf(id) }),
          );
        return { ok: true, value: { readAt: t, serviceAt: t, collectors } };
      },
      pollCollector: async ({ collectorId }) => {
        asked.push(`collector ${collectorId}`);
        return answers[byId(collectorId)]();
      },
    },
  });
  return {
    asked,
    register,
    upgrade,
    poll: async () => pollSoakingCollectors(parts, aView({ rollout: await now() }), 0, signal),
    notes,
    check: async () => (await now()).waves[0]?.soakCheck,
    implausible: async () => (await now()).inventory.implausible?.why.kind,
  };
}

describe('polling a wave that soaks (P14)', () => {
  it('reads the inventory once for all collectors that it lists', async () => {
    const { poll, check, asked } = await aSoak(10, {});
    await poll();
    expect(asked).toEqual(['inventory']);
    expect(await check()).toMatchObject({ silent: 0, failedPolls: 0 });
  });

  it.each([
    ['is silent', { lastSeenAlive: t - 7 * 60_000 }],
    ['is not alive', { alive: false }],
    ['left the build', { build: '19.1-1' }],
  ])(
    'polls by its id each canary that %s in the inventory, because the row may be old',
    async (_case, changes) => {
      const { poll, upgrade, asked } = await aSoak(3, {
        rowOf: (id) => (id <= 2 ? changes : {}),
        byId: (id) => (id === 2 ? 'dead' : 'well'),
      });
      await poll();
      expect(asked).toEqual(['inventory', 'collector 1', 'collector 2']);
      expect(await upgrade(1)).toMatchObject({ progress: { state: 'succeeded' } });
      expect(await upgrade(2)).toMatchObject({ progress: { state: 'unconfirmed', lost: true } });
    },
  );

  it.each([
    ['counts a collector that is gone as a failure, where nothing explains it', 'unconfirmed', 1],
    ['withdraws an ephemeral collector that is gone, without a failure', 'withdrawn', 0],
    ['withdraws a collector that is gone and that an operator holds, without a failure', 'withdrawn', 0],
  ])('%s', async (what, state, weight) => {
    const ephemeral = what.includes('ephemeral') ? [2] : [];
    const service = { listed: (id: number) => id !== 2, byId: () => 'unknown' as const, ephemeral };
    const { poll, upgrade, register } = await aSoak(3, service);
    const hold = { collectorId: 2, by: 'ops', reason: 'retired', at: t };
    if (what.includes('operator')) await register.holdCollector(hold);
    await poll();
    expect(await upgrade(2)).toMatchObject({ progress: { state, weight, lost: false } });
  });

  it.each<readonly [string, Service, string | undefined]>([
    ['one collector gives no answer', { listed: (id) => id > 3, byId: () => 'silent' }, undefined],
    [
      'a collector answers 404 and the inventory is empty',
      { listed: () => false, byId: () => 'unknown' },
      'empty',
    ],
  ])('is inconclusive while %s', async (_case, service, expected) => {
    const { poll, check, upgrade, implausible } = await aSoak(3, service);
    await poll();
    expect(await check()).toMatchObject({ failedPolls: 1 });
    expect(await upgrade(1)).toMatchObject({ progress: { state: 'succeeded' } });
    expect(await implausible()).toBe(expected);
  });

  it('takes a collector from the list where the service never shows it by its id, and a failure from two lists', async () => {
    const refused = () => 'refused' as const;
    const well = await aSoak(1, { byId: refused });
    await well.poll();
    expect(await well.check()).toMatchObject({ failedPolls: 0 });
    for (const [service, state] of [
      [{ rowOf: () => ({ alive: false }) }, { state: 'unconfirmed', lost: true }],
      [{ listed: (id: number) => id > 1 }, { state: 'unconfirmed', lost: false }],
    ] as const) {
      const { poll, upgrade, check } = await aSoak(1, { byId: refused, ...service });
      await poll();
      expect(await check()).toMatchObject({ failedPolls: 1 });
      expect(await upgrade(1)).toMatchObject({ progress: { state: 'succeeded' } });
      await poll();
      expect(await upgrade(1)).toMatchObject({ progress: state });
    }
  });

  it('sends no more polls where both the id is refused and the list is implausible', async () => {
    const { poll, asked, check } = await aSoak(3, { byId: () => 'refused', listed: () => false });
    await poll();
    expect(asked).toEqual(['inventory', 'collector 1']);
    expect(await check()).toMatchObject({ failedPolls: 1 });
  });

  it('is reported once while polls fail, and again when they fail after a success', async () => {
    const polls: Array<'silent' | 'well'> = ['silent', 'silent', 'well', 'silent'];
    const { poll, notes } = await aSoak(1, { byId: () => polls.shift() ?? 'well' });
    const notesAfter: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      await poll();
      notesAfter.push(notes.length);
    }
    expect(notesAfter).toEqual([1, 1, 1, 2]);
  });

  it('does not believe a 404 for a collector that the inventory lists', async () => {
    const { poll, check, upgrade, asked } = await aSoak(1, { byId: () => 'unknown' });
    await poll();
    expect(asked).toEqual(['collector 1', 'inventory']);
    expect(await check()).toMatchObject({ failedPolls: 1 });
    expect(await upgrade(1)).toMatchObject({ progress: { state: 'succeeded' } });
  });

  it('is inconclusive when the inventory lacks many collectors, and does not poll all of them', async () => {
    const { poll, check, asked, implausible } = await aSoak(100, { listed: (id) => id > 60 });
    await poll();
    expect(asked.filter((what) => what !== 'inventory')).toHaveLength(20);
    expect(await check()).toMatchObject({ failedPolls: 1 });
    expect(await implausible()).toBe('manyGone');
  });
});

describe('the soak of a wave with a collector that someone else upgraded (P14)', () => {
  it.each([
    ['polls that collector, and no other withdrawn one', true, {}],
    [
      'no longer counts it as evidence once it is dead, nor as a failure',
      false,
      { weight: 0, reason: { kind: 'onBuild', but: { kind: 'died' } } },
    ],
  ])('%s', async (_what, alive, progress) => {
    const polled: number[] = [];
    const rollout = soaking(2);
    const { parts, upgrade } = await aHouse({
      rollout,
      upgrades: [
        anUpgrade({ ...over('withdrawn'), onBuild: true }, { collectorId: 1 }),
        anUpgrade(over('withdrawn'), { collectorId: 2, order: 2 }),
      ],
      fleet: {
        pollCollector: async ({ collectorId }) => {
          polled.push(collectorId);
          return { ok: true, value: aSighting({ alive }) };
        },
      },
    });
    const view = aView({ rollout, waves: [aSummary({ withdrawn: 2 }, { onBuild: 1 })] });
    await pollSoakingCollectors(parts, view, 0, signal);
    expect(polled).toEqual([1]);
    expect(isOnBuild(await upgrade())).toBe(alive);
    expect(await upgrade()).toMatchObject({ progress: { state: 'withdrawn', ...progress } });
  });
});
