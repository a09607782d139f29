import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from '../../support/a-folder.ts';

const unit = readFileSync(new URL('../../../deploy/systemd/upwave.service', import.meta.url), 'utf8');
const systemd = spawnSync('systemd-analyze', ['--version']).status === 0;

describe.skipIf(!systemd)('the unit (skipped where systemd-analyze is not installed)', () => {
  /** The unit with this change, where systemd finds it. */
  const aUnit = (change: (text: string) => string = (text) => text) => {
    const path = join(aFolder(), 'upwave.service');
    // The command has to exist where the unit is checked.
    writeFileSync(path, change(unit).replace('/usr/local/bin/upwave', process.execPath));
    return path;
  };
  const analyze = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    return { status, said: stdout + stderr };
  };

  it('has no key that systemd does not know, and none in the wrong section', () => {
    expect(analyze('verify', '--man=no', aUnit())).toEqual({ status: 0, said: '' });
    const wrong = aUnit((text) => text.replace('Restart=', 'Restarts='));
    expect(analyze('verify', '--man=no', wrong).said).toContain('Restarts');
  });

  it('is exposed to less than 2 of 10', () => {
    const { status } = analyze('security', '--offline=true', '--threshold=20', '--no-pager', aUnit());
    expect(status).toBe(0);
  });
});
