import { describe, expect, it } from 'vitest';
import type { DaemonNote } from '../../../../src/orchestrator/ports/event-sink.ts';
import { makeConfigs } from '../../../../src/orchestrator/scan/configs.ts';
import { scan } from '../../../../src/orchestrator/scan/scan.ts';
import type { LivingDaemon } from '../../../../src/rollout/reload/newest-config.ts';
import { aFleet, aFleetService, aPolicy, targetBuild } from '../../../support/builders.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';
import { makeMemoryScanBook } from '../../../support/store/memory-scan-book.ts';

const policy = aPolicy();
const own = [{ policy: policy.name, hash: 'aaaa', generation: 1 }];
const newer: LivingDaemon = {
  followsSchedule: true,
  beatAt: 1,
  account: 'a',
  configs: [{ policy: policy.name, hash: 'bbbb', generation: 2 }],
};

/** A daemon that scans, and others that live; `onFleet` happens while the fleet is read. */
function setUp(onFleet: (live: (others: readonly LivingDaemon[]) => void) => void = () => undefined) {
  let others: readonly LivingDaemon[] = [];
  const live = (daemons: readonly LivingDaemon[]): void => {
    others = daemons;
  };
  const notes: DaemonNote[] = [];
  const sink = { tell: () => undefined, note: (note: DaemonNote) => notes.push(note) };
  const store = makeMemoryRolloutStore();
  const scans = makeMemoryScanBook();
  const newcomers = { count: 0 };
  const parts = {
    ...quietParts,
    sink,
    store,
    scans,
    register: makeMemoryFleetRegister(),
    configs: makeConfigs({
      register: { beat: async () => ({ own, account: 'a', beatAt: 1, others }), replace: () => undefined },
      sink,
      clock: quietParts.clock,
    }),
    fleet: aFleetService({
      listBuilds: async () => ({ ok: true, value: [{ version: targetBuild, latest: true }] }),
      readFleet: async () => {
        onFleet(live);
        return { ok: true, value: aFleet(3 + newcomers.count) };
      },
    }),
    forecast: () => [],
    memory: { check: async () => 'store', refusal: () => undefined },
  };
  return {
    look: () => scan(parts, policy, 'schedule'),
    live,
    notes,
    newcomers,
    rollouts: () => store.listRollouts([policy.name]),
    written: () => scans.read(),
  };
}

describe('a scan by a daemon with an older config (P5)', () => {
  it('plans nothing, and writes nothing down in the place of the newest', async () => {
    const { look, live, rollouts, written } = setUp();
    live([newer]);
    expect(await look()).toMatchObject({ kind: 'outdated', reason: expect.stringContaining('newer config') });
    expect(await rollouts()).toEqual([]);
    expect(await written()).toEqual([]);
  });

  it('plans nothing either when the newer config came while the fleet was read', async () => {
    const { look, rollouts } = setUp((live) => live([newer]));
    expect((await look()).kind).toBe('outdated');
    expect(await rollouts()).toEqual([]);
  });

  it('takes in nobody when the newer config came while the fleet was read', async () => {
    let arrives = false;
    const { look, rollouts, newcomers, live } = setUp((become) => {
      if (arrives) become([newer]);
    });
    expect((await look()).kind).toBe('started');
    newcomers.count = 2;
    arrives = true;
    await look();
    expect((await rollouts()).map(({ waves }) => waves.map(({ joined }) => joined))).toEqual([[0]]);
    // Alone again, it does.
    arrives = false;
    live([]);
    await look();
    expect((await rollouts()).map(({ waves }) => waves.map(({ joined }) => joined))).toEqual([[2]]);
  });

  it('is told once when it begins, and once when it ends', async () => {
    const { look, live, notes } = setUp();
    live([newer]);
    await look();
    await look();
    live([]);
    await look();
    const told = notes.flatMap(({ event }) => (event.startsWith('config.') ? [event] : []));
    expect(told).toEqual(['config.outdated', 'config.agreed']);
  });
});
