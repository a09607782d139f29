import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load/load-config.ts';
import { aFolder } from '../../support/a-folder.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const unit = read('deploy/systemd/upwave.service');
const [, guide = ''] = /\n## systemd\n([\s\S]*?)\n## /.exec(read('src/docs/guides/install.md')) ?? [];
const systemd = spawnSync('systemd-analyze', ['--version']).status === 0;

describe('the guide to systemd', () => {
  const credentials = [...unit.matchAll(/^LoadCredential=([\w-]+):(\S+)$/gm)];

  it('writes the secrets that the unit passes, and no other', () => {
    const written = [...guide.matchAll(/> (\/etc\/upwave\/\S+)$/gm)].map(([, path = '']) => path);
    expect(credentials.map(([, name = '']) => name)).toEqual([
      'access-id',
      'access-key',
      'token',
      'redis-password',
    ]);
    expect(written.sort()).toEqual(credentials.map(([, , path = '']) => path).sort());
  });

  it('has a config that is right and takes every secret from a credential', () => {
    const [, config = ''] = /^ *```yaml\n([\s\S]*?)^ *```$/m.exec(guide) ?? [];
    const folder = aFolder();
    for (const [, name = ''] of credentials)
      writeFileSync(join(folder, name), 'a-secret-of-some-length', { mode: 0o600 });
    const file = join(folder, 'upwave.yaml');
    writeFileSync(file, config.replaceAll('/run/credentials/upwave.service', folder));
    expect(loadConfig(file, {}).rollouts.map(({ name }) => name)).toEqual(['production']);
    const named = [...config.matchAll(/File: \/run\/credentials\/upwave\.service\/(\S+)/g)].map(
      ([, name = '']) => name,
    );
    expect(named.sort()).toEqual(credentials.map(([, name = '']) => name).sort());
  });

  it('copies the unit from where the package has it, to the path that it verifies', () => {
    const [, from = ''] =
      /^ *cp "\$\(npm root --global\)\/upwave\/(\S+)" \/etc\/systemd\/system\/$/m.exec(guide) ?? [];
    expect(existsSync(new URL(from, root))).toBe(true);
    expect(guide).toContain('systemd-analyze verify --man=no /etc/systemd/system/upwave.service');
    const [, config] = /^ExecStart=upwave run --config (\S+)$/m.exec(unit) ?? [];
    expect(guide).toContain(`\`${config}\``);
  });
});

describe.skipIf(!systemd)('the unit (skipped where systemd-analyze is not installed)', () => {
  /** The unit with this change, where systemd finds it. */
  const aUnit = (change: (text: string) => string = (text) => text) => {
    const path = join(aFolder(), 'upwave.service');
    // The command has to exist where the unit is checked.
    writeFileSync(path, change(unit).replace('ExecStart=upwave ', `ExecStart=${process.execPath} `));
    return path;
  };
  const analyze = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    return { status, said: stdout + stderr };
  };
  const verify = (path: string) => analyze('verify', '--man=no', path);

  it('has no key that systemd does not know, and none in the wrong section', () => {
    expect(verify(aUnit())).toEqual({ status: 0, said: '' });
    expect(verify(aUnit((text) => text.replace('Restart=', 'Restarts='))).said).toContain('Restarts');
  });

  it('names its program without a folder, and systemd finds such a program', () => {
    expect(unit).toMatch(/^ExecStart=upwave run /m);
    const running = (program: string) =>
      aUnit((text) => text.replace('ExecStart=upwave ', `ExecStart=${program} `));
    expect(verify(running('env'))).toEqual({ status: 0, said: '' });
    expect(verify(running('no-such-program'))).toMatchObject({
      status: 1,
      said: expect.stringContaining('no-such-program is not executable'),
    });
  });

  it('takes the lines that the guide suggests for a drop-in', () => {
    const suggested = [...guide.matchAll(/`((?:LoadCredential|EnvironmentFile|ExecStart)=[^`]*)`/g)];
    const lines = suggested.map(([, line = '']) =>
      line.replace('/opt/node/bin/node ', `${process.execPath} `),
    );
    expect(lines.length).toBeGreaterThan(4);
    const path = aUnit((text) =>
      text.replace('\n[Install]', `${[...new Set(lines)].join('\n')}\n\n[Install]`),
    );
    expect(verify(path)).toEqual({ status: 0, said: '' });
  });

  it('is exposed to less than 2 of 10', () => {
    const { status } = analyze('security', '--offline=true', '--threshold=20', '--no-pager', aUnit());
    expect(status).toBe(0);
  });
});
