import { beforeEach, describe, expect, it } from 'vitest';
import { runAtOnce } from '../../../../src/base/steps.ts';
import {
  holdSubjects,
  listHolds,
  releaseSubjects,
} from '../../../../src/orchestrator/operations/change-holds.ts';
import type { FleetService } from '../../../../src/orchestrator/ports/fleet-service.ts';
import { makeMemoryRolloutStore } from '../../../../src/rehearsal/store/memory-rollout-store.ts';
import { holdNoteText, unknownSubjectText } from '../../../../src/rollout/messages/hold-command-notes.ts';
import { tabulateAttributes } from '../../../../src/rollout/model/attributes.ts';
import { aFleetService } from '../../../support/builders/service-builders.ts';
import {
  aCollector,
  anUpgrade,
  aPolicy,
  aRollout,
  askedFor,
  aWave,
  type RolloutChanges,
  someGroups,
  startedAt as t,
  targetBuild,
} from '../../../support/builders.ts';
import { aHouse, answering, away, failing, freeze, save } from '../../../support/house.ts';

const by = { by: 'bob', reason: 'stop' };
const groups = someGroups({
  strata: ['Linux / amd64', 'Windows / amd64'].map((label) => ({ label, sizes: [5] })),
});

let house: Awaited<ReturnType<typeof aHouse>>;
beforeEach(async () => {
  house = await aHouse({ rollout: null, fleet: { findCollector: answering(undefined) } });
});
const holdOf = (subject: string, findCollector?: FleetService['findCollector']) => {
  const { parts } = house;
  const fleet = findCollector === undefined ? parts.fleet : aFleetService({ findCollector });
  return holdSubjects({ ...parts, fleet }, { subject, ...by });
};
const releaseOf = (subject: string) => releaseSubjects(house.parts, { subject, ...by });
const begin = async (changes: RolloutChanges = {}, names: readonly string[] = ['web-1']) => {
  const rollout = aRollout({ policy: aPolicy({ spreadBy: ['osName', 'osArch'] }), ...changes });
  const upgrades = names.map((collectorName, index) =>
    anUpgrade({ state: 'pending' }, { collectorName, collectorId: 100 + index }),
  );
  await freeze(house.store, rollout, upgrades, groups);
  return rollout;
};

describe('hold of a build', () => {
  it.each([
    ['a running rollout', {}],
    // That hold would end by itself.
    [
      'a rollout that is held for missing evidence',
      { state: 'held', hold: { heldFor: { kind: 'evidence', wave: 0 } } },
    ],
  ] as const)(
    'stops %s, also when the build is held already: the daemon that held it may have died (P4)',
    async (_, changes) => {
      const { register, now } = house;
      await begin(changes);
      await register.holdBuild({ build: targetBuild, by: 'ann', reason: 'it crashes', at: t });
      const subject = { kind: 'build', build: targetBuild };
      expect(await holdOf(targetBuild)).toMatchObject({ kind: 'done', subject });
      const reason = { kind: 'buildHeld', reason: 'it crashes' };
      expect(await now()).toMatchObject({ state: 'held', reason });
      expect((await now()).hold?.heldFor).toBeUndefined();
      expect(await register.readAudit(5)).toEqual([]);
      expect(await holdOf(targetBuild)).toMatchObject({ kind: 'unchanged' });
    },
  );

  it('that is not on offer is done, and names similar builds on offer', async () => {
    await house.register.firstSeen(['19.441-2', '19.455-2', '20.500-1'], t);
    const note = { kind: 'buildNotOffered', seenAt: t, nearest: ['19.455-2', '19.441-2'] } as const;
    expect(await holdOf('19.455-22')).toMatchObject({ kind: 'done', note });
    expect((await house.register.holds()).builds.map(({ build }) => build)).toEqual(['19.455-22']);
    const seenAt = new Date(t).toISOString();
    expect(holdNoteText(note)).toBe(
      `the service did not offer this build at the last scan (${seenAt}); did you mean "19.455-2", "19.441-2"?`,
    );
  });

  it('that is on offer, or before any scan, has no note', async () => {
    expect(await holdOf('19.455-2')).not.toHaveProperty('note');
    await house.register.firstSeen(['19.455-2'], t);
    expect(await holdOf('19.455-2')).not.toHaveProperty('note');
  });
});

describe('hold of a collector', () => {
  it('that the service does not know is done by its id, with a note', async () => {
    expect(await holdOf('4711')).toMatchObject({
      kind: 'done',
      subject: { kind: 'collector', collectorId: 4711 },
      note: { kind: 'collectorUnknown' },
    });
    expect(await releaseOf('4711')).toMatchObject({ kind: 'done' });
  });

  it('that a rollback leaves on the build for its hold says so, also at its release', async () => {
    const { id } = await begin({ kind: 'rollback', rollback: { original: 'production-20260302-0' } }, [
      'svr-12',
    ]);
    const note = { kind: 'leftByRollback', rollback: id, build: expect.any(String) };
    expect(await holdOf('svr-12')).toMatchObject({ kind: 'done', note });
    expect(await releaseOf('svr-12')).toMatchObject({ kind: 'done', note });
  });

  it('whose name is unknown is refused, and names similar ones', async () => {
    await begin({}, ['svr-12', 'svr-21', 'web-1.example.com', 'db']);
    expect(await holdOf('svr-22')).toEqual({
      kind: 'unknown',
      why: { kind: 'unknown', subject: 'svr-22', nearest: ['svr-12', 'svr-21'] },
    });
    const why = { kind: 'unknown', subject: 'WEB-1', nearest: ['web-1.example.com'] } as const;
    expect(await holdOf('WEB-1')).toEqual({ kind: 'unknown', why });
    expect(unknownSubjectText(why)).toMatch(/^WEB-1 is not a build.*; did you mean "web-1\.example\.com"\?$/);
  });

  it('keeps its name, and can be released by it when no plan has it any more', async () => {
    await begin({}, ['svr-12']);
    await holdOf('100');
    const { collectors } = await listHolds(house.parts);
    expect(collectors).toEqual([{ collectorId: 100, name: 'svr-12', ...by, at: t }]);
    const parts = { ...house.parts, store: makeMemoryRolloutStore() };
    expect(await releaseSubjects(parts, { subject: 'svr-12', ...by })).toMatchObject({ kind: 'done' });
    const audit = await house.parts.register.readAudit(2);
    expect(audit.map(({ event, subject }) => `${event} ${subject}`)).toEqual([
      'collector.released 100 svr-12',
      'collector.held 100 svr-12',
    ]);
  });
});

describe('a stratum', () => {
  it('without a collector in the plan is refused, and similar strata are named', async () => {
    await begin();
    const refused = { kind: 'unknown', why: { kind: 'unknown', nearest: ['Linux / amd64'] } };
    expect(await holdOf('linux / amd46')).toMatchObject(refused);
    // Also while the service can't say whether a collector is called that.
    expect(await holdOf('linux / amd46', failing(away))).toMatchObject(refused);
    expect((await house.now()).strata.held).toEqual([]);
  });

  it('is held with the number of its collectors', async () => {
    await begin();
    expect(await holdOf('Linux / amd64')).toMatchObject({ kind: 'done', collectors: 5 });
  });

  it('that the daemon holds is held by the person then, so that the daemon does not end it (P4)', async () => {
    const label = 'Windows / amd64';
    const reason = { kind: 'outlier', failed: 3, tried: 3, elsewhere: { failed: 0, tried: 7 } } as const;
    await begin({ strata: { held: [{ stratum: 1, label, reason, by: 'daemon', at: t }] } });
    expect(await holdOf(label)).toMatchObject({ kind: 'done' });
    const { held } = (await house.now()).strata;
    expect(held).toMatchObject([{ stratum: 1, label, reason: { kind: 'asked' } }]);
    expect(held[0]?.by).not.toBe('daemon');
    expect(await holdOf(label)).toMatchObject({ kind: 'unchanged' });
  });

  it('whose label does not have the keys of spreadBy is refused', async () => {
    await begin();
    expect(await holdOf('Linux / amd64 / 19.441-2')).toMatchObject({ kind: 'unknown' });
  });

  it('that is still held after its rollout has ended is listed, and can be released', async () => {
    const label = 'Windows / amd64';
    const word = { reason: askedFor('3 of 3 failed'), by: 'daemon', at: t };
    const rollout = await begin({ strata: { held: [{ stratum: 1, label, ...word }] } });
    await save(house.store, rollout, { state: 'aborted', endedAt: t });
    const strata = async () => (await listHolds(house.parts)).strata;

    const rolloutId = rollout.id;
    expect(await strata()).toEqual([
      { policy: 'production', rolloutId, isEnded: true, label, ...word, reason: '3 of 3 failed' },
    ]);
    // Nothing of an ended rollout could start.
    expect(await holdOf('Linux / amd64')).toMatchObject({ kind: 'unknown' });
    expect(await releaseOf(label)).toMatchObject({
      kind: 'done',
      subject: { kind: 'stratum', label, rolloutId },
      note: { kind: 'rolloutEnded' },
    });
    expect(await strata()).toEqual([]);
    expect(await house.now()).toMatchObject({ state: 'aborted', endedAt: t, strata: { held: [] } });
  });
});

describe('the release of a stratum', () => {
  const label = 'Windows / amd64';
  const held = { stratum: 1, label, reason: askedFor('a crash'), by: 'ann', at: t };
  const canary = (state: 'passed' | 'open') => aWave({ name: 'canary', state, size: 3 });
  const names = ['linux-1', 'win-1', 'win-2'];
  const releaseAfter = async (state: 'passed' | 'open') => {
    const rollout = aRollout({
      policy: aPolicy({ spreadBy: ['osName', 'osArch'] }),
      waves: [canary(state)],
      strata: { held: [held] },
    });
    const upgrades = names.map((collectorName, index) =>
      anUpgrade(
        { state: 'pending' },
        { collectorName, collectorId: 100 + index, stratum: Math.min(index, 1) },
      ),
    );
    await freeze(house.store, rollout, upgrades, groups);
    return releaseOf(label);
  };

  it('names the waves that passed their gate without its collectors', async () => {
    const note = { kind: 'notJudged', waves: [{ name: 'canary', size: 3, waiting: 2 }] } as const;
    expect(await releaseAfter('passed')).toMatchObject({ kind: 'done', note });
    expect(holdNoteText(note)).toBe(
      '2 collectors can start now, although wave canary passed its gate without them (1 of 3 judged, 2 held)',
    );
  });

  it('names no wave whose gate is still to judge its collectors', async () => {
    expect(await releaseAfter('open')).not.toHaveProperty('note');
  });
});

describe('a group of collectors by what they share', () => {
  const label = 'osName=Linux';
  const attributes = [{ key: 'osName', value: 'Linux' }];
  const group = { kind: 'group', label, attributes };
  const groupsHeld = async () => (await listHolds(house.parts)).groups.map((each) => each.label);

  it('is held before there is a rollout, and released by the same text', async () => {
    const result = await holdOf('osName = Linux');
    expect(result).toMatchObject({ kind: 'done', subject: group, note: { kind: 'noRollout' } });
    expect('note' in result && result.note !== undefined && holdNoteText(result.note)).toContain(
      'does not check whether a collector belongs to this group; `upwave collectors list` shows all',
    );
    expect(await holdOf(label)).toMatchObject({ kind: 'unchanged' });
    expect(await groupsHeld()).toEqual([label]);
    expect(await releaseOf(label)).toMatchObject({ kind: 'done', subject: group });
    expect(await groupsHeld()).toEqual([]);
    expect(await releaseOf(label)).toMatchObject({ kind: 'unknown' });
    expect((await house.register.readAudit(5)).map(({ event }) => event)).toEqual([
      'group.released',
      'group.held',
    ]);
  });

  it('is held in running rollouts, and stays held when they have ended (P4)', async () => {
    const rollout = aRollout();
    const table = tabulateAttributes([aCollector({ id: 100, osName: 'Linux' })]);
    const upgrades = [anUpgrade({ state: 'pending' }, { collectorId: 100 })];
    const frozen = { rollout, upgrades, groups, events: [], attributes: runAtOnce(table) };
    await house.store.freeze(frozen);
    expect(await holdOf(label)).toMatchObject({ kind: 'done', subject: group });
    expect((await house.now()).strata.held).toMatchObject([{ label, attributes, unmoved: true }]);
    await save(house.store, await house.now(), { state: 'succeeded', endedAt: t });
    expect(await groupsHeld()).toEqual([label]);
    expect(await releaseOf(label)).toMatchObject({ kind: 'done' });
    expect((await house.now()).strata.held).toEqual([]);
  });

  it('waits in a rollback that runs, which the answer states: one that was held before it goes back', async () => {
    const rollout = aRollout({ kind: 'rollback', rollback: { original: 'production-20260301-1' } });
    const attributes = runAtOnce(tabulateAttributes([aCollector({ id: 100, osName: 'Linux' })]));
    const upgrades = [anUpgrade({ state: 'pending' }, { collectorId: 100 })];
    await house.store.freeze({ rollout, upgrades, groups, events: [], attributes });
    const note = { kind: 'waitsInRollback', rollback: rollout.id } as const;
    expect(await holdOf(label)).toMatchObject({ kind: 'done', note });
    expect((await house.now()).strata.held).toMatchObject([{ label }]);
    expect(holdNoteText(note)).toContain('does not take these collectors back before the release');
  });

  it.each([
    ['osName=linux', ['osName=Linux']],
    ['osName=Windows', ['osName=Windows*', 'osName=Windows 2019']],
    ['osName=Linux and osArch=amd46', ['osName=Linux and osArch=amd64', 'osName=Linux and osArch=arm64']],
    ['osName=Windows 2020 and osArch=arm64', []],
  ])('%s, which no collector has, names only groups that exist, the nearest first', async (text, nearest) => {
    const collectors = [
      aCollector({ id: 100, osName: 'Linux', osArch: 'amd64' }),
      aCollector({ id: 101, osName: 'Windows 2019', osArch: 'amd64' }),
      aCollector({ id: 102, osName: 'Windows Server 2022', osArch: 'amd64' }),
      aCollector({ id: 103, osName: 'Linux', osArch: 'arm64' }),
    ];
    const attributes = runAtOnce(tabulateAttributes(collectors));
    await house.store.freeze({ rollout: aRollout(), upgrades: [], groups, events: [], attributes });
    const result = await holdOf(text);
    expect(result).toMatchObject({ kind: 'done', note: { kind: 'groupEmpty', nearest } });
    const note = 'note' in result && result.note !== undefined ? holdNoteText(result.note) : '';
    expect(note).toContain(
      nearest.length > 0 ? `did you mean "${nearest.join('", "')}"? no collector` : 'no collector',
    );
  });

  it.each([
    ['osNme=Linux', ['osName=Linux']],
    ['osname=Linux and rack=r7', ['osName=Linux and fields.rack=r7']],
    ['colour=red', []],
    ['Linux', []],
  ])('with a misspelled key is refused, with the nearest key as a hint: %s', async (text, nearest) => {
    const attributes = runAtOnce(tabulateAttributes([aCollector({ id: 100, fields: { rack: 'r7' } })]));
    await house.store.freeze({ rollout: aRollout(), upgrades: [], groups, events: [], attributes });
    expect(await holdOf(text)).toEqual({ kind: 'unknown', why: { kind: 'unknown', subject: text, nearest } });
    expect(await groupsHeld()).toEqual([]);
  });

  it('is held as the stratum that it became in a rollout, where it was held and released before (P4)', async () => {
    const moved = someGroups({
      strata: ['Linux / amd64', label].map((each) => ({ label: each, sizes: [5] })),
    });
    await freeze(house.store, aRollout(), [], moved);
    expect(await holdOf(label)).toMatchObject({ kind: 'done', subject: group });
    expect((await house.now()).strata.held).toMatchObject([{ stratum: 1, label }]);
    expect((await house.now()).strata.held[0]?.unmoved).toBeUndefined();
  });

  it('is held without a word about its collectors while the attributes of a rollout are unreadable', async () => {
    await begin();
    expect(await holdOf('osName=Linuks')).toEqual({
      kind: 'done',
      subject: { kind: 'group', label: 'osName=Linuks', attributes: [{ key: 'osName', value: 'Linuks' }] },
    });
    expect(await groupsHeld()).toEqual(['osName=Linuks']);
  });
});

describe('a hold that a daemon with another config carries out', () => {
  const elsewhere = (subject: string) => {
    const claims = { ...house.parts.claims, isMissing: () => true };
    return holdSubjects({ ...house.parts, claims }, { subject, ...by });
  };

  it.each(['Linux / amd64', targetBuild])(
    'applies to rollouts of policies that it lacks: %s (P4)',
    async (subject) => {
      await begin();
      expect(await elsewhere(subject)).toMatchObject({ kind: 'done' });
      const { state, strata } = await house.now();
      expect([state === 'held', strata.held.length > 0]).toContain(true);
    },
  );

  it('withdraws the collector from them (P4)', async () => {
    const { id } = await begin();
    expect(await elsewhere('web-1')).toMatchObject({ kind: 'done', subject: { collectorId: 100 } });
    const [upgrade] = (await house.store.loadUpgrades(id, [100])).upgrades;
    expect(upgrade?.progress).toMatchObject({ state: 'withdrawn' });
  });
});
