import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const unit = readFileSync(new URL('../../../deploy/systemd/upwave.service', import.meta.url), 'utf8');
const systemd = spawnSync('systemd-analyze', ['--version']).status === 0;

describe.skipIf(!systemd)('the unit (skipped where systemd-analyze is not installed)', () => {
  let folder: string;
  let path: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'upwave-systemd-'));
    path = join(folder, 'upwave.service');
    // The command has to exist where the unit is checked.
    writeFileSync(path, unit.replace('/usr/local/bin/upwave', process.execPath));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const analyze = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    return { status, said: stdout + stderr };
  };

  it('has no key that systemd does not know, and none in the wrong section', () => {
    expect(analyze('verify', '--man=no', path)).toEqual({ status: 0, said: '' });
    writeFileSync(join(folder, 'wrong.service'), unit.replace('Restart=', 'Restarts='));
    expect(analyze('verify', '--man=no', join(folder, 'wrong.service')).said).toContain('Restarts');
  });

  it('is exposed to less than 2 of 10', () => {
    expect(analyze('security', '--offline=true', '--threshold=20', '--no-pager', path)).toMatchObject({
      status: 0,
    });
  });
});
