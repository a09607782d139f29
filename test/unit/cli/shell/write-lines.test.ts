import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, lstat, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { CommandFailure } from '../../../../src/cli/shell/command.ts';
import { writeLines, writeLinesToFile } from '../../../../src/cli/shell/write-lines.ts';
import { aFolder } from '../../../support/a-folder.ts';

const mkfifo = 'mkfifo';
const hasMkfifo = spawnSync(mkfifo, ['--version']).status === 0;

async function* lines(count: number): AsyncGenerator<string> {
  for (let line = 0; line < count; line += 1) yield `line ${line}`;
}

/** A stream that fails at once, as `write` does. */
function failing(code: string): Writable {
  const error = Object.assign(new Error(code), { code, syscall: 'write' });
  return new Writable({ write: (_chunk, _encoding, done) => done(error) });
}

describe('lines to a stream', () => {
  it('are written with line ends, and the stream stays open for more', async () => {
    const stream = new PassThrough();
    await writeLines(stream, lines(3));
    expect(stream.writableEnded).toBe(false);
    expect(String(stream.read())).toBe('line 0\nline 1\nline 2\n');
  });

  it('end quietly when the reader has gone, and with an error when they cannot be written', async () => {
    await expect(writeLines(failing('EPIPE'), lines(3))).resolves.toBeUndefined();
    await expect(writeLines(failing('ENOSPC'), lines(3))).rejects.toThrow('ENOSPC');
  });
});

describe('lines in a file', () => {
  const err = new PassThrough();
  const [owner, all] = [
    { reader: 'owner', err },
    { reader: 'all', err },
  ] as const;
  const modeOf = async (path: string) => ((await lstat(path)).mode & 0o777).toString(8);

  it('are private, and no link or file of somebody else is written to (P12)', async () => {
    const folder = aFolder();
    const [out, victim] = [join(folder, 'out'), join(folder, 'victim')];
    await writeFile(victim, 'precious', { mode: 0o644 });
    await symlink(victim, `${out}.part`);
    await writeLinesToFile(out, lines(2), owner);
    expect(await readFile(victim, 'utf8')).toBe('precious');
    expect((await lstat(out)).isFile()).toBe(true);
    expect(await modeOf(out)).toBe('600');
    expect(await readFile(out, 'utf8')).toBe('line 0\nline 1\n');
  });

  it('may be read by those whom the umask allows, where they are meant for others', async () => {
    const out = join(aFolder(), 'out');
    await writeLinesToFile(out, lines(1), all);
    expect(await modeOf(out)).toBe((0o666 & ~process.umask()).toString(8));
  });

  it('are private even after an interrupted run, or in place of a file that everybody may read', async () => {
    const folder = aFolder();
    const out = join(folder, 'out');
    for (const name of [out, `${out}.part`]) {
      await writeFile(name, 'left over');
      await chmod(name, 0o666);
    }
    await writeLinesToFile(out, lines(1), owner);
    expect(await modeOf(out)).toBe('600');
  });

  it.skipIf(!hasMkfifo)(
    'go into a pipe or a device that is there, which stays what it is (skipped without mkfifo)',
    async () => {
      const folder = aFolder();
      const pipe = join(folder, 'pipe');
      execFileSync(mkfifo, [pipe]);
      const [text] = await Promise.all([readFile(pipe, 'utf8'), writeLinesToFile(pipe, lines(2), owner)]);
      expect(text).toBe('line 0\nline 1\n');
      expect((await lstat(pipe)).isFIFO()).toBe(true);
      expect(await readdir(folder)).toEqual(['pipe']);
    },
  );

  it('are named on stderr once they are written', async () => {
    const out = join(aFolder(), 'out');
    const notes = new PassThrough();
    await writeLinesToFile(out, lines(1), { reader: 'all', err: notes });
    expect(String(notes.read())).toBe(`written: ${out}\n`);
    await writeLinesToFile('/dev/null', lines(1), { reader: 'all', err: notes });
    expect(notes.read()).toBeNull();
  });

  it('leave nothing behind when reading them fails', async () => {
    const folder = aFolder();
    async function* broken(): AsyncGenerator<string> {
      yield 'line';
      throw new Error('no more');
    }
    await expect(writeLinesToFile(join(folder, 'out'), broken(), owner)).rejects.toThrow('no more');
    expect(await readdir(folder)).toEqual([]);
    await expect(writeLinesToFile(join(folder, 'no', 'out'), lines(1), owner)).rejects.toThrow(
      CommandFailure,
    );
  });
});
