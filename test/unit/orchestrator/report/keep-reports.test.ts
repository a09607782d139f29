import { describe, expect, it } from 'vitest';
import type { ReportFolder } from '../../../../src/orchestrator/ports/report-folder.ts';
import { makeReportKeeper } from '../../../../src/orchestrator/report/keep-reports.ts';
import type { Rollout } from '../../../../src/rollout/model/rollout.ts';
import { aRollout, type RolloutChanges, startedAt } from '../../../support/builders.ts';
import { aHouse, save } from '../../../support/house.ts';
import { pendingOnes } from '../../../support/store/store-changes.ts';

const endedAt = startedAt + 3_600_000;
const dayMs = 86_400_000;
const ended = (changes: RolloutChanges = {}) =>
  aRollout({ state: 'succeeded', endedAt, createdAt: startedAt, ...changes });

/** A directory that can be made unwritable. */
function aFolder() {
  const files = new Map<string, { readonly text: string; readonly endedAt: number }>();
  const broken = { reason: '' };
  const folder: ReportFolder = {
    place: '/reports',
    pathOf: (name) => `/reports/${name}`,
    listMissing: async (names, at) => ({
      ok: true,
      value: names.filter((name) => (files.get(name)?.endedAt ?? 0) < at),
    }),
    write: async (name, text, at) => {
      if (broken.reason !== '') return { ok: false, reason: broken.reason };
      files.set(name, { text, endedAt: at });
      return { ok: true, value: null };
    },
  };
  return { files, broken, folder };
}

async function setUp(rollout: Rollout) {
  const house = await aHouse({ rollout, upgrades: pendingOnes(2) });
  house.clock.at = endedAt + 1_000;
  const disk = aFolder();
  const keeper = makeReportKeeper({ ...house.parts, folder: disk.folder, formats: ['html', 'md'] });
  return { ...house, keeper, ...disk };
}

describe('the reports of ended rollouts', () => {
  it('are written once, in each format, when the rollout has ended', async () => {
    const { keeper, files, notes } = await setUp(ended());
    await keeper.writeDue();
    await keeper.writeDue();
    const { id } = ended();
    expect([...files.keys()]).toEqual([`${id}.html`, `${id}.md`]);
    expect(files.get(`${id}.md`)?.text).toContain(`# Rollout ${id}: succeeded`);
    expect(notes.map(({ event }) => event)).toEqual(['report.written', 'report.written']);
  });

  it('are not written for a running rollout, nor for one that ended more than a week ago', async () => {
    const running = await setUp(aRollout());
    await running.keeper.writeDue();
    const old = await setUp(ended());
    old.clock.at = endedAt + 7 * dayMs + 1;
    await old.keeper.writeDue();
    expect([...running.files, ...old.files]).toEqual([]);
  });

  it('are written again when a file is missing, or the rollout was reopened and has ended again', async () => {
    const { keeper, files, store, clock, now } = await setUp(ended());
    await keeper.writeDue();
    const { id } = ended();
    files.delete(`${id}.html`);
    await keeper.writeDue();
    expect(files.get(`${id}.html`)?.endedAt).toBe(endedAt);
    await save(store, await now(), { endedAt: endedAt + dayMs });
    clock.at += dayMs;
    await keeper.writeDue();
    expect(files.get(`${id}.html`)?.endedAt).toBe(endedAt + dayMs);
  });

  it('show why and since when they cannot be written, and are written when the directory is back', async () => {
    const { keeper, files, notes, broken, clock } = await setUp(ended());
    broken.reason = 'the disk is full (ENOSPC)';
    await keeper.writeDue();
    clock.at += 60_000;
    await keeper.writeDue();
    expect(keeper.problem()).toMatchObject({ reason: broken.reason, since: endedAt + 1_000 });
    expect(keeper.pathsOf('r')).toEqual([]);
    broken.reason = '';
    await keeper.writeDue();
    expect(keeper.problem()).toBeNull();
    expect(keeper.pathsOf('r')).toEqual(['html', 'md'].map((format) => `/reports/r.${format}`));
    expect(files.size).toBe(2);
    expect(notes.map((note) => ('failures' in note ? note.failures : note.event))).toEqual([
      1,
      2,
      'report.written',
      'report.written',
      'report.recovered',
    ]);
  });
});
