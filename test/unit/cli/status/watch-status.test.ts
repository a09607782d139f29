import { describe, expect, it } from 'vitest';
import { CommandFailure } from '../../../../src/cli/shell/command.ts';
import { exitCodes } from '../../../../src/cli/shell/exit-codes.ts';
import { watchStatus } from '../../../../src/cli/status/watch-status.ts';
import { startedAt } from '../../../support/builders.ts';

const away = new CommandFailure(exitCodes.unreachable, 'no answer from http://127.0.0.1:9464');

/** Watches with these answers, one a second, and returns all that was shown. */
async function watch(answers: ReadonlyArray<string | Error>): Promise<readonly string[]> {
  const stop = new AbortController();
  const shown: string[] = [];
  let reads = 0;
  const parts = {
    read: async (): Promise<string> => {
      const answer = answers[reads] ?? '';
      reads += 1;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    show: (seen: string) => void shown.push(seen),
    trouble: (words: string) => void shown.push(words),
    clock: { now: () => startedAt + reads * 1_000 },
    sleep: async () => {
      if (reads >= answers.length) stop.abort();
    },
  };
  await watchStatus(parts, stop.signal);
  return shown;
}

describe('watching', () => {
  it('waits for a daemon that is not up yet, stops, or comes back, and shows since when', async () => {
    expect(await watch([away, 'one', away, away, 'two'])).toEqual([
      expect.stringMatching(/^no answer since \d\d:\d\d:01: no answer from http/),
      'one',
      expect.stringMatching(/^no answer since \d\d:\d\d:03: /),
      expect.stringMatching(/^no answer since \d\d:\d\d:03: /),
      'two',
    ]);
  });

  it('ends for errors that waiting cannot cure', async () => {
    const mistake = new CommandFailure(exitCodes.usageOrConfig, 'no rollout is called so');
    await expect(watch(['one', mistake])).rejects.toBe(mistake);
  });
});
