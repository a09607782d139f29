import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeTransientErrors } from '../../../../src/redis/connection/transient-errors.ts';

const clusterDown = new Error('CLUSTERDOWN The cluster is down');
const outOfMemory = new Error("OOM command not allowed when used memory > 'maxmemory'.");
const readOnly = new Error("READONLY You can't write against a read only replica.");

describe('errors of Redis that pass by themselves', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['of a replica send the command again on a new connection, and are reported', readOnly, 2, [readOnly]],
    [
      'of a cluster that is not whole are reported, and need no new connection',
      clusterDown,
      false,
      [clusterDown],
    ],
    ['that stay are none of these', outOfMemory, false, []],
  ])('%s', (_which, error, reconnects, reported) => {
    const seen: Error[] = [];
    const transient = makeTransientErrors((each) => seen.push(each));
    expect(transient.reconnectOnError(error)).toBe(reconnects);
    expect(seen).toEqual(reported);
    expect(transient.takeOwnClose()).toBe(reconnects === 2);
  });

  it('wait longer each time, up to 2 s, although each connection is taken', () => {
    const passing = makeTransientErrors(undefined);
    const waits = Array.from({ length: 25 }, () => {
      // Several commands meet the same error on one connection.
      passing.reconnectOnError(readOnly);
      passing.reconnectOnError(readOnly);
      const waitMs = passing.retryStrategy(1);
      vi.advanceTimersByTime(waitMs);
      return waitMs;
    });
    expect(waits.slice(0, 3)).toEqual([100, 200, 300]);
    expect(waits.at(-1)).toBe(2_000);
  });

  it('are forgotten after ten seconds without another error', () => {
    const passing = makeTransientErrors(undefined);
    for (let turn = 0; turn < 10; turn += 1) {
      passing.reconnectOnError(readOnly);
      passing.retryStrategy(1);
    }
    vi.advanceTimersByTime(10_001);
    expect(passing.retryStrategy(1)).toBe(100);
  });

  it('know that the close after them is our own, however late a busy machine hears of it, and no other is', () => {
    const passing = makeTransientErrors(undefined);
    expect(passing.takeOwnClose()).toBe(false);
    passing.reconnectOnError(readOnly);
    vi.advanceTimersByTime(10_000);
    expect([passing.takeOwnClose(), passing.takeOwnClose()]).toEqual([true, false]);
    passing.reconnectOnError(readOnly);
    vi.advanceTimersByTime(10_001);
    expect(passing.takeOwnClose()).toBe(false);
  });
});
