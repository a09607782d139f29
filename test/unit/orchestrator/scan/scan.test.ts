import { describe, expect, it } from 'vitest';
import { listPolicies } from '../../../../src/orchestrator/operations/list-policies.ts';
import type { DaemonNote } from '../../../../src/orchestrator/ports/event-sink.ts';
import { scan } from '../../../../src/orchestrator/scan/scan.ts';
import {
  aFleet,
  aFleetService,
  aPolicy,
  aRollout,
  someGroups,
  startedAt,
  targetBuild,
} from '../../../support/builders.ts';
import { quietParts } from '../../../support/quiet-parts.ts';
import {
  makeMemoryFleetRegister,
  makeMemoryRolloutStore,
} from '../../../support/store/memory-rollout-store.ts';
import { makeMemoryScanBook } from '../../../support/store/memory-scan-book.ts';
import { pendingOnes } from '../../../support/store/store-changes.ts';

const minute = 60_000;
const offer = { version: targetBuild, latest: true };

function setUp(ticks: readonly number[]) {
  let now = startedAt;
  let answers = false;
  const scans = makeMemoryScanBook();
  const notes: DaemonNote[] = [];
  const parts = {
    ...quietParts,
    sink: { tell: () => undefined, note: (note: DaemonNote) => notes.push(note) },
    store: makeMemoryRolloutStore(),
    register: makeMemoryFleetRegister(),
    fleet: aFleetService({
      listBuilds: async () =>
        answers
          ? { ok: true, value: [] }
          : { ok: false, failure: { kind: 'misconfigured', detail: 'the key is wrong' } },
    }),
    scans,
    forecast: (_policy: string, count: number) => ticks.slice(0, count),
    clock: { now: () => now },
    memory: { check: async () => 'store', refusal: () => undefined },
  };
  return {
    parts,
    scans,
    notes,
    look: (signal?: AbortSignal) => scan(parts, aPolicy({ name: 'production' }), 'schedule', signal),
    later: (forMs: number) => {
      now += forMs;
    },
    heal: () => {
      answers = true;
    },
  };
}

describe('a look for work', () => {
  it('is written down for all daemons: when, what came of it, the last good one, and the next', async () => {
    const { parts, look, later, heal } = setUp([startedAt + 15 * minute]);
    expect((await listPolicies(parts)).policies).toEqual([
      {
        policy: 'production',
        lastScan: null,
        lastGoodAt: null,
        nextScanAt: startedAt + 15 * minute,
        config: { kind: 'agreed', others: 0 },
      },
    ]);
    await look();
    expect((await listPolicies(parts)).policies).toMatchObject([
      {
        lastScan: { at: startedAt, outcome: 'failed', reason: expect.stringContaining('the key is wrong') },
        lastGoodAt: null,
      },
    ]);
    later(minute);
    heal();
    await look();
    expect((await listPolicies(parts)).policies).toMatchObject([
      { lastScan: { at: startedAt + minute, outcome: 'nothing' }, lastGoodAt: startedAt + minute },
    ]);
  });

  it.each([
    ['an hour, where the schedule is quick', 15 * minute, 60 * minute],
    ['three times of a slow schedule', 1_440 * minute, 3 * 1_440 * minute],
  ])('has to be followed by another one within %s', async (_what, every, within) => {
    const { scans, look } = setUp([1, 2, 3].map((tick) => startedAt + tick * every));
    await look();
    expect(await scans.read()).toMatchObject([{ overdueAt: startedAt + within }]);
  });

  it.each([
    ['the builds', {}],
    ['the fleet', { listBuilds: async () => ({ ok: true, value: [offer] }) as const }],
  ])('that could not read %s for the rollout on its way is no good one', async (what, answers) => {
    const { parts, scans, notes } = setUp([]);
    await parts.store.freeze({
      rollout: aRollout(),
      upgrades: pendingOnes(1),
      groups: someGroups(),
      events: [],
    });
    const fleet = aFleetService(answers);
    const result = await scan({ ...parts, fleet }, aPolicy({ name: 'production' }), 'schedule');
    expect(result).toMatchObject({ kind: 'busy', rolloutId: aRollout().id });
    const reason = expect.stringMatching(new RegExp(`^${aRollout().id} is still on its way, .*${what}`));
    expect(await scans.read()).toMatchObject([{ outcome: 'failed', reason }]);
    expect((await listPolicies(parts)).policies).toMatchObject([{ lastGoodAt: null }]);
    expect(notes).toMatchObject([{ event: 'scan.failed', policy: 'production', reason }]);
  });

  it('that was called off says nothing', async () => {
    const { scans, look } = setUp([]);
    await look(AbortSignal.abort());
    expect(await scans.read()).toEqual([]);
  });
});

describe('a scan of a fleet that is much smaller than at the last one (P14)', () => {
  function aScan(sizes: () => number) {
    const { parts, later } = setUp([]);
    const fleet = aFleetService({
      listBuilds: async () => ({ ok: true, value: [offer] }),
      // All run the build, so that no rollout begins.
      readFleet: async () => ({ ok: true, value: aFleet(sizes(), () => ({ build: targetBuild })) }),
    });
    return { later, look: () => scan({ ...parts, fleet }, aPolicy({ name: 'production' }), 'schedule') };
  }

  it.each([60, 0])('fails and says so, and makes no plan of %i of 120', async (size) => {
    let shown = 120;
    const { look } = aScan(() => shown);
    expect((await look()).kind).toBe('nothing');
    shown = size;
    expect(await look()).toMatchObject({
      kind: 'failed',
      // Not `unavailable`: a command would ask again for half a minute, and say that it can't reach the service.
      cause: 'implausible',
      reason: expect.stringContaining(`the inventory lists ${size} collectors, 120 at the last good scan`),
    });
    shown = 118;
    expect((await look()).kind).toBe('nothing');
  });

  it('takes it for the whole fleet when it stays so for an hour', async () => {
    let shown = 120;
    const { look, later } = aScan(() => shown);
    await look();
    shown = 60;
    later(1_440 * minute);
    expect((await look()).kind).toBe('failed');
    later(59 * minute);
    expect((await look()).kind).toBe('failed');
    later(minute);
    expect((await look()).kind).toBe('nothing');
    expect((await look()).kind).toBe('nothing');
  });
});
