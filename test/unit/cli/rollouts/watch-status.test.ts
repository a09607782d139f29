import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { watchStatus } from '../../../../src/cli/rollouts/watch-status.ts';
import { CommandFailure } from '../../../../src/cli/shell/command.ts';
import { exitCodes } from '../../../../src/cli/shell/exit-codes.ts';
import { startedAt } from '../../../support/builders.ts';

const away = new CommandFailure(exitCodes.unreachable, 'no answer from http://127.0.0.1:9464');

/** Watches through these answers, one a second, and tells all that was written. */
async function watch(answers: ReadonlyArray<string | Error>, isLive = false): Promise<string> {
  const stop = new AbortController();
  const stream = new PassThrough();
  let looks = 0;
  const read = async (): Promise<string> => {
    const answer = answers[looks] ?? '';
    looks += 1;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const parts = {
    read,
    show: (seen: string) => void stream.write(`${seen}\n`),
    clock: { now: () => startedAt + looks * 1_000 },
    sleep: async () => {
      if (looks >= answers.length) stop.abort();
    },
  };
  await watchStatus(parts, { out: stream, err: stream, isLive, paint: (_, text) => text }, stop.signal);
  return String(stream.read() ?? '');
}

describe('watching', () => {
  it('goes on when the daemon goes and comes back, and says since when there is no answer', async () => {
    expect((await watch(['one', away, away, 'two', away])).split('\n')).toEqual([
      'one',
      expect.stringMatching(/^no answer since \d\d:\d\d:02: no answer from http/),
      'two',
      expect.stringMatching(/^no answer since \d\d:\d\d:05: /),
      '',
    ]);
  });

  it('leaves what was seen last on the screen', async () => {
    const screens = (await watch(['one', away, away], true)).split('\u001b[H\u001b[2J');
    expect(screens).toEqual([
      '',
      'one\n',
      expect.stringMatching(/^one\nno answer since \d\d:\d\d:02: /),
      expect.stringMatching(/^one\nno answer since \d\d:\d\d:02: /),
    ]);
  });

  it('ends where nobody ever answered, and for anything that waiting does not mend', async () => {
    await expect(watch([away])).rejects.toBe(away);
    const mistake = new CommandFailure(exitCodes.usageOrConfig, 'no rollout is called so');
    await expect(watch(['one', mistake])).rejects.toBe(mistake);
  });
});
