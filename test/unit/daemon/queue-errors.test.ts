import { describe, expect, it } from 'vitest';
import { makeQueueErrorReporter } from '../../../src/daemon/queue-errors.ts';
import { makeLogger } from '../../../src/observability/logger.ts';

function complaints() {
  const lines: Array<{ level: string; event: string }> = [];
  const write = (line: string) => lines.push(JSON.parse(line));
  const logger = makeLogger({ level: 'debug', secrets: [], destination: { write } });
  let now = 0;
  const learnRefusal = (error: Error) => error.message.startsWith('OOM');
  const complain = makeQueueErrorReporter({ logger, clock: { now: () => now }, learnRefusal });
  return {
    lines: () => lines.map(({ level, event }) => `${level} ${event}`),
    at: (at: number, error: Error) => {
      now = at;
      complain(error);
    },
  };
}

const replyError = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' });
const refused = replyError("NOPERM this user has no permissions to run the 'evalsha' command");

describe('complaints of the queue', () => {
  it('report a refusal of Redis at once, and again after ten seconds', () => {
    const queue = complaints();
    for (const at of [0, 1, 9_999, 10_000, 10_001]) queue.at(at, refused);
    expect(queue.lines()).toEqual(['error queue.refused', 'error queue.refused']);
  });

  it.each([
    ['takes no writes', replyError("OOM command not allowed when used memory > 'maxmemory'.")],
    ['is away', new Error('connect ECONNREFUSED 127.0.0.1:6379')],
  ])('do not report that Redis %s', (_what, error) => {
    const queue = complaints();
    queue.at(0, error);
    queue.at(1, refused);
    expect(queue.lines()).toEqual(['debug queue.failed', 'error queue.refused']);
  });
});
