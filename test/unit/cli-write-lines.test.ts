import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { writeLines } from '../../src/cli/write-lines.ts';

async function* lines(count: number): AsyncGenerator<string> {
  for (let line = 0; line < count; line += 1) yield `line ${line}`;
}

/** A stream that fails at once, as `write` does. */
function failing(code: string): Writable {
  const error = Object.assign(new Error(code), { code, syscall: 'write' });
  return new Writable({ write: (_chunk, _encoding, done) => done(error) });
}

describe('lines for whoever reads', () => {
  it('are written each with its end, and the stream stays open for more', async () => {
    const stream = new PassThrough();
    await writeLines(stream, lines(3));
    expect(stream.writableEnded).toBe(false);
    expect(String(stream.read())).toBe('line 0\nline 1\nline 2\n');
  });

  it('end quietly when nobody reads on, and loudly when they can not be written', async () => {
    await expect(writeLines(failing('EPIPE'), lines(3))).resolves.toBeUndefined();
    await expect(writeLines(failing('ENOSPC'), lines(3))).rejects.toThrow('ENOSPC');
  });
});
