import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { makeSafeStream } from '../../../../src/cli/shell/safe-stream.ts';
import { writeLines } from '../../../../src/cli/shell/write-lines.ts';

function aStream(isTTY: boolean) {
  const raw = Object.assign(new PassThrough(), { isTTY });
  return { ...makeSafeStream(raw), text: () => String(raw.read() ?? '') };
}

describe('what a command writes', () => {
  const hostile = 'web-7\u001b]52;c;ZXZpbA==\u0007\u001b[2K\u001b[8m\u202e\r';
  const shown = 'web-7\\u001b]52;c;ZXZpbA==\\u0007\\u001b[2K\\u001b[8m\\u202e\\u000d';

  it.each([true, false])('contains no foreign control sequence; live: %s', (isTTY) => {
    const { stream, text } = aStream(isTTY);
    stream.write(`${hostile}\tnext\n`);
    expect(text()).toBe(`${shown}\tnext\n`);
  });

  it('keeps our own colours only on a terminal', () => {
    const own = '\u001b[1mbold\u001b[22m \u001b[31mred\u001b[39m\n';
    const live = aStream(true);
    live.stream.write(own);
    expect(live.text()).toBe(own);
    const piped = aStream(false);
    piped.stream.write(own);
    expect(piped.text()).toBe('\\u001b[1mbold\\u001b[22m \\u001b[31mred\\u001b[39m\n');
  });

  it('shows no secret of ours that came back, even line by line', async () => {
    const { stream, addSecrets, text } = aStream(false);
    addSecrets(['a-secret-key']);
    stream.write('{"name":"a-secret-key"}\n');
    await writeLines(
      stream,
      (async function* () {
        yield 'x a-secret-key y';
      })(),
    );
    expect(text()).toBe('{"name":"***"}\nx *** y\n');
  });
});
