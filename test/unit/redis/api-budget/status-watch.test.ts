import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ServiceStatus } from '../../../../src/orchestrator/ports/api-budget.ts';
import { makeStatusWatch } from '../../../../src/redis/api-budget/status-watch.ts';

describe('the watch over the service', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  function aWatch(readDown: () => Promise<string>) {
    const reported: ServiceStatus[] = [];
    const failures: unknown[] = [];
    const watch = makeStatusWatch({
      readDown,
      onStatus: (standing) => reported.push(standing),
      onFailed: (error) => failures.push(error),
      everyMs: 50,
    });
    return { watch, reported, failures };
  }

  it('reports changes, and nothing twice', () => {
    const { watch, reported } = aWatch(async () => 'still down');
    for (const down of ['', 'broken', 'more broken', '', '']) watch.learn(down);
    expect(reported).toEqual([{ isUp: false, reason: 'broken' }, { isUp: true }]);
  });

  it('notices that another daemon found the service up, and then stops polling', async () => {
    let looks = 0;
    const { watch, reported, failures } = aWatch(async () => {
      looks += 1;
      if (looks === 2) throw new Error('Redis is away');
      return looks < 4 ? 'down' : '';
    });
    watch.learn('down');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(looks).toBe(4);
    expect(failures).toEqual([new Error('Redis is away')]);
    expect(reported).toEqual([{ isUp: false, reason: 'down' }, { isUp: true }]);
  });

  it('ends with a close', async () => {
    let looks = 0;
    const { watch } = aWatch(async () => {
      looks += 1;
      return 'down';
    });
    watch.learn('down');
    watch.close();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(looks).toBe(0);
  });
});
