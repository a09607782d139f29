import { describe, expect, it } from 'vitest';
import { makeConfigs } from '../../../../src/orchestrator/configs/configs.ts';
import { scan } from '../../../../src/orchestrator/scan/scan.ts';
import type { LivingDaemon } from '../../../../src/rollout/reload/newest-config.ts';
import { aFleet, aPolicy } from '../../../support/builders.ts';
import { aHouse, serving } from '../../../support/house.ts';

const policy = aPolicy();
const own = [{ policy: policy.name, hash: 'aaaa', generation: 1 }];
const newer: LivingDaemon = {
  followsSchedule: true,
  beatAt: 1,
  account: 'a',
  configs: [{ policy: policy.name, hash: 'bbbb', generation: 2 }],
};

/** A daemon that scans, beside others; `onFleet` happens while the fleet is read. */
async function setUp(others: readonly LivingDaemon[] = []) {
  const world = { others, size: 3, onFleet: (): void => undefined };
  const { parts, store, notes } = await aHouse({
    rollout: null,
    fleet: serving(() => {
      world.onFleet();
      return aFleet(world.size);
    }),
  });
  const beat = async () => ({ own, account: 'a', beatAt: 1, others: world.others });
  const configs = makeConfigs({ ...parts, register: { beat, replace: () => undefined } });
  const joined = async () =>
    (await store.listRollouts([policy.name])).flatMap(({ waves }) => waves.map((wave) => wave.joined));
  return {
    world,
    notes,
    joined,
    scans: parts.scans,
    scan: () => scan({ ...parts, configs }, policy, 'schedule'),
  };
}

describe('a scan by a daemon with an older config (P5)', () => {
  it("plans nothing, and does not store its outcome in place of the newest daemon's", async () => {
    const { scan, joined, scans } = await setUp([newer]);
    expect(await scan()).toMatchObject({ kind: 'outdated', config: { others: 1 } });
    expect(await joined()).toEqual([]);
    expect(await scans.read()).toEqual([]);
  });

  it('plans nothing when the newer config arrived while the fleet was read', async () => {
    const { scan, joined, world } = await setUp();
    world.onFleet = () => (world.others = [newer]);
    expect((await scan()).kind).toBe('outdated');
    expect(await joined()).toEqual([]);
  });

  it('adds no late joiner when the newer config arrived while the fleet was read', async () => {
    const { scan, joined, world } = await setUp();
    expect((await scan()).kind).toBe('started');
    world.size = 5;
    world.onFleet = () => (world.others = [newer]);
    await scan();
    expect(await joined()).toEqual([0]);
    // Alone again, it does.
    Object.assign(world, { others: [], onFleet: () => undefined });
    await scan();
    expect(await joined()).toEqual([2]);
  });

  it('is reported once when it begins, and once when it ends', async () => {
    const { scan, world, notes } = await setUp([newer]);
    await scan();
    await scan();
    world.others = [];
    await scan();
    const reports = notes.flatMap(({ event }) => (event.startsWith('config.') ? [event] : []));
    expect(reports).toEqual(['config.outdated', 'config.agreed']);
  });
});
