import { beforeEach, describe, expect, it } from 'vitest';
import { hold, listHolds, release } from '../../../../src/orchestrator/operations/holds.ts';
import type { FleetService } from '../../../../src/orchestrator/ports/fleet-service.ts';
import { holdNoteWords } from '../../../../src/rollout/messages/hold-notes.ts';
import type { Rollout } from '../../../../src/rollout/model/rollout.ts';
import {
  aFleetService,
  anApiBudgetStatus,
  anUpgrade,
  aPolicy,
  aRollout,
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
import { makeMemoryScanBook } from '../../../support/store/memory-scan-book.ts';

const by = { by: 'bob', reason: 'stop' };
const labels = ['Linux / amd64', 'Windows / amd64'];
const nobody: FleetService['findCollector'] = async () => ({ ok: true, value: undefined });

let store: ReturnType<typeof makeMemoryRolloutStore>;
let register: ReturnType<typeof makeMemoryFleetRegister>;
const parts = (findCollector = nobody) => ({
  ...quietParts,
  store,
  register,
  fleet: aFleetService({ findCollector }),
  rollouts: [],
  scans: makeMemoryScanBook(),
  forecast: () => [],
  readApiBudgetStatus: async () => anApiBudgetStatus(),
});
const freeze = async (changes: Partial<Rollout> = {}, names: readonly string[] = ['web-1']) => {
  const rollout = aRollout({ policy: aPolicy({ spreadBy: ['osName', 'osArch'] }), ...changes });
  const upgrades = names.map((collectorName, index) =>
    anUpgrade({ state: 'pending' }, { collectorName, collectorId: 100 + index }),
  );
  const groups = someGroups({ strata: labels.map((label) => ({ label, sizes: [5] })) });
  await store.freeze({ rollout, upgrades, groups, events: [] });
  return rollout;
};

beforeEach(() => {
  store = makeMemoryRolloutStore();
  register = makeMemoryFleetRegister();
});

describe('hold of a build', () => {
  it.each([
    ['what still runs', {}],
    // That hold would end by itself.
    ['what is held for evidence', { state: 'held', heldFor: { kind: 'evidence', wave: 0 } }],
  ] as const)(
    'stops %s, also when it was held before: its first holder may have died (P4)',
    async (_, changes) => {
      const rollout = await freeze(changes);
      await register.holdBuild({ build: targetBuild, by: 'ann', reason: 'it crashes', at: t });
      const held = await hold(parts(), { subject: targetBuild, ...by });
      expect(held).toMatchObject({ kind: 'done', subject: { kind: 'build', build: targetBuild } });
      const after = await store.loadRollout(rollout.id);
      expect(after).toMatchObject({ state: 'held', reason: { kind: 'buildHeld', reason: 'it crashes' } });
      expect(after?.heldFor).toBeUndefined();
      expect(await register.readAudit(5)).toEqual([]);
      const again = await hold(parts(), { subject: targetBuild, ...by });
      expect(again).toMatchObject({ kind: 'unchanged' });
    },
  );

  it('that nobody offers is done, and names the nearest ones on offer', async () => {
    await register.firstSeen(['19.441-2', '19.455-2', '20.500-1'], t);
    const slip = await hold(parts(), { subject: '19.455-22', ...by });
    const note = { kind: 'buildNotOffered', seenAt: t, nearest: ['19.455-2', '19.441-2'] } as const;
    expect(slip).toMatchObject({ kind: 'done', note });
    expect((await register.heldBuilds()).map(({ build }) => build)).toEqual(['19.455-22']);
    const seenAt = new Date(t).toISOString();
    expect(holdNoteWords(note)).toBe(
      `the service did not offer this build at the last scan (${seenAt}); did you mean "19.455-2", "19.441-2"?`,
    );
  });

  it('on offer, or while nothing is known of offers, has no note', async () => {
    expect(await hold(parts(), { subject: '19.455-2', ...by })).not.toHaveProperty('note');
    await register.firstSeen(['19.455-2'], t);
    expect(await hold(parts(), { subject: '19.455-2', ...by })).not.toHaveProperty('note');
  });
});

describe('hold of a collector', () => {
  it('that the service does not know is done by its id, with a note', async () => {
    const held = await hold(parts(), { subject: '4711', ...by });
    expect(held).toMatchObject({
      kind: 'done',
      subject: { kind: 'collector', collectorId: 4711 },
      note: { kind: 'collectorUnknown' },
    });
    expect(await release(parts(), { subject: '4711', ...by })).toMatchObject({ kind: 'done' });
  });

  it('that nobody is called is refused, and names the nearest ones', async () => {
    await freeze({}, ['svr-12', 'svr-21', 'web-1.example.com', 'db']);
    expect(await hold(parts(), { subject: 'svr-22', ...by })).toEqual({
      kind: 'unknown',
      reason:
        'svr-22 is no build, no stratum of a current rollout, and no installed collector; did you mean "svr-12", "svr-21"?',
    });
    expect(await hold(parts(), { subject: 'WEB-1', ...by })).toMatchObject({
      reason: expect.stringMatching(/; did you mean "web-1\.example\.com"\?$/),
    });
  });

  it('keeps its name for the list, and is released by it when it has left every plan', async () => {
    await freeze({}, ['svr-12']);
    await hold(parts(), { subject: '100', ...by });
    expect((await listHolds(parts())).collectors).toEqual([
      { collectorId: 100, name: 'svr-12', ...by, at: t },
    ]);
    store = makeMemoryRolloutStore();
    expect(await release(parts(), { subject: 'svr-12', ...by })).toMatchObject({ kind: 'done' });
  });
});

describe('a stratum', () => {
  it('without a collector in the plan is held for late joiners, and the nearest ones are named', async () => {
    const { id } = await freeze();
    const held = await hold(parts(), { subject: 'linux/amd46', ...by });
    expect(held).toMatchObject({
      kind: 'done',
      subject: { kind: 'stratum', label: 'linux / amd46', rolloutId: id },
      note: { kind: 'stratumEmpty', nearest: ['Linux / amd64'] },
    });
    const after = await store.loadRollout(id);
    expect(after?.heldStrata).toMatchObject([{ stratum: -1, label: 'linux / amd46' }]);
    expect(await hold(parts(), { subject: 'Linux / AMD46', ...by })).toMatchObject({ kind: 'unchanged' });
    // Also while the service can't say whether a collector is called that.
    const away: FleetService['findCollector'] = async () => ({
      ok: false,
      failure: { kind: 'unavailable', sent: true, detail: 'away' },
    });
    expect(await hold(parts(away), { subject: 'AIX / power', ...by })).toMatchObject({ kind: 'done' });
  });

  it('of another form than the labels of the rollout is refused', async () => {
    await freeze();
    const subject = 'Linux / amd64 / 19.441-2';
    expect(await hold(parts(), { subject, ...by })).toMatchObject({ kind: 'unknown' });
  });

  it('that an ended rollout left held is listed, and released', async () => {
    const label = 'Windows / amd64';
    const word = { reason: because('3 of 3 failed'), by: 'daemon', at: t };
    const rollout = await freeze({ heldStrata: [{ stratum: 1, label, ...word }] });
    const ended = { ...rollout, state: 'aborted', endedAt: t, rev: rollout.rev + 1 } as const;
    const change = { rollout: ended, expectedRev: rollout.rev, events: [], brake: 'set' } as const;
    await store.saveRollout(change, null);

    expect((await listHolds(parts())).strata).toEqual([
      { policy: 'production', rolloutId: rollout.id, isEnded: true, label, ...word, reason: '3 of 3 failed' },
    ]);
    // Nothing of an ended rollout could start.
    expect(await hold(parts(), { subject: 'Linux / amd64', ...by })).toMatchObject({ kind: 'unknown' });
    expect(await release(parts(), { subject: label, ...by })).toMatchObject({
      kind: 'done',
      subject: { kind: 'stratum', label, rolloutId: rollout.id },
      note: { kind: 'rolloutEnded' },
    });
    expect((await listHolds(parts())).strata).toEqual([]);
    const after = await store.loadRollout(rollout.id);
    expect(after).toMatchObject({ state: 'aborted', endedAt: t, heldStrata: [] });
  });
});
