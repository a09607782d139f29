import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeTransientErrors } from '../../../../src/redis/connection/transient-errors.ts';

const readOnly = new Error("READONLY You can't write against a read only replica.");

describe('errors of Redis that pass by themselves', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('send the command again on a new connection, and are told; others are neither', () => {
    const told: Error[] = [];
    const passing = makeTransientErrors((error) => told.push(error));
    expect(passing.reconnectOnError(readOnly)).toBe(2);
    expect(
      passing.reconnectOnError(new Error("OOM command not allowed when used memory > 'maxmemory'.")),
    ).toBe(false);
    expect(told).toEqual([readOnly]);
  });

  it('of a cluster that is not whole are told, and need no new connection', () => {
    const told: Error[] = [];
    const passing = makeTransientErrors((error) => told.push(error));
    const down = new Error('CLUSTERDOWN The cluster is down');
    expect(passing.reconnectOnError(down)).toBe(false);
    expect(told).toEqual([down]);
    expect(passing.isOwnClose()).toBe(false);
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

  it('are forgotten after ten seconds without any', () => {
    const passing = makeTransientErrors(undefined);
    for (let turn = 0; turn < 10; turn += 1) {
      passing.reconnectOnError(readOnly);
      passing.retryStrategy(1);
    }
    vi.advanceTimersByTime(10_001);
    expect(passing.retryStrategy(1)).toBe(100);
  });

  it('know that the close after them is our own, and a later one is not', () => {
    const passing = makeTransientErrors(undefined);
    expect(passing.isOwnClose()).toBe(false);
    passing.reconnectOnError(readOnly);
    expect(passing.isOwnClose()).toBe(true);
    vi.advanceTimersByTime(1_000);
    expect(passing.isOwnClose()).toBe(false);
  });
});
