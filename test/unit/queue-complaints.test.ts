import { describe, expect, it } from 'vitest';
import { makeQueueComplaints } from '../../src/daemon/queue-complaints.ts';
import { makeLogger } from '../../src/observability/logger.ts';

function complaints() {
  const lines: Array<{ level: string; event: string }> = [];
  const write = (line: string) => lines.push(JSON.parse(line));
  const logger = makeLogger({ level: 'debug', secrets: [], destination: { write } });
  let now = 0;
  const complain = makeQueueComplaints(logger, { now: () => now });
  return {
    lines: () => lines.map(({ level, event }) => `${level} ${event}`),
    at: (at: number, error: Error) => {
      now = at;
      complain(error);
    },
  };
}

const refused = Object.assign(new Error("OOM command not allowed when used memory > 'maxmemory'."), {
  name: 'ReplyError',
});

describe('complaints of the queue', () => {
  it('tell at once what Redis refuses, and again after ten seconds, not a thousand times a second', () => {
    const queue = complaints();
    for (const at of [0, 1, 9_999, 10_000, 10_001]) queue.at(at, refused);
    expect(queue.lines()).toEqual(['error queue.refused', 'error queue.refused']);
  });

  it('leave it to the connection to tell that Redis is away', () => {
    const queue = complaints();
    queue.at(0, new Error('connect ECONNREFUSED 127.0.0.1:6379'));
    queue.at(1, refused);
    expect(queue.lines()).toEqual(['debug queue.failed', 'error queue.refused']);
  });
});
