import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeReportFolder } from '../../../src/observability/report-folder.ts';
import { aFolder } from '../../support/a-folder.ts';
import { startedAt } from '../../support/builders.ts';

const missing = async (directory: string, endedAt = startedAt) =>
  makeReportFolder(directory).listMissing(['a.txt', 'b.txt'], endedAt);

describe('the directory of reports', () => {
  it('is made where it is missing, and holds whole files dated with the end of their rollouts', async () => {
    const directory = join(aFolder(), 'deep', 'reports');
    expect(await missing(directory)).toEqual({ ok: true, value: ['a.txt', 'b.txt'] });
    const folder = makeReportFolder(directory);
    const path = folder.pathOf('a.txt');
    expect(await folder.write('a.txt', 'all of it', startedAt)).toMatchObject({ ok: true });
    expect(readdirSync(directory)).toEqual(['a.txt']);
    expect(readFileSync(path, 'utf8')).toBe('all of it');
    expect(statSync(path).mtimeMs).toBe(startedAt);
    expect(await missing(directory)).toEqual({ ok: true, value: ['b.txt'] });
  });

  it('lacks a report of a later end, and replaces the earlier one', async () => {
    const directory = aFolder();
    const folder = makeReportFolder(directory);
    await folder.write('a.txt', 'first', startedAt);
    expect(await missing(directory, startedAt + 60_000)).toMatchObject({ value: ['a.txt', 'b.txt'] });
    await folder.write('a.txt', 'second', startedAt + 60_000);
    expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('second');
  });

  it('loses what a killed process left behind, and keeps what another one may be writing', async () => {
    const directory = aFolder();
    const [abandoned, fresh] = ['.a.txt.1.tmp', '.a.txt.2.tmp'].map((name) => join(directory, name));
    for (const path of [abandoned, fresh]) writeFileSync(String(path), 'half of');
    const longAgo = Date.now() / 1_000 - 7_200;
    utimesSync(String(abandoned), longAgo, longAgo);
    await makeReportFolder(directory).write('a.txt', 'whole', startedAt);
    expect(readdirSync(directory).toSorted()).toEqual(['.a.txt.2.tmp', 'a.txt']);
  });

  it('reports why it cannot be written, and leaves no file behind', async () => {
    const above = aFolder();
    writeFileSync(join(above, 'file'), '');
    const directory = join(above, 'file', 'reports');
    expect(await makeReportFolder(directory).write('a.txt', 'text', startedAt)).toEqual({
      ok: false,
      reason: `the report directory ${directory} cannot be written: a part of its path is not a directory (ENOTDIR)`,
    });
    mkdirSync(join(above, 'a.txt'));
    expect(await makeReportFolder(above).write('a.txt', 'text', startedAt)).toMatchObject({ ok: false });
    expect(readdirSync(above).toSorted()).toEqual(['a.txt', 'file']);
  });
});
