import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { describeEnd, finishWork } from '../../../src/daemon/shutdown.ts';

describe('the end of a daemon', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('comes after its work has ended', async () => {
    const cutRedis = vi.fn();
    expect(await finishWork({ work: Promise.resolve(), isRedisReady: true, cutRedis })).toBe('done');
    expect(cutRedis).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('reports the error of the work', async () => {
    const work = Promise.reject(new Error('a bug'));
    const ending = finishWork({ work, isRedisReady: true, cutRedis: async () => undefined });
    await expect(ending).rejects.toThrow('a bug');
  });

  it.each([
    ['is a cut after seven seconds', true, 7_000, true, 'cut'],
    ['is a cut after two seconds where Redis is unreachable', false, 2_000, true, 'cut'],
    ['is late where the work continues even without Redis', false, 2_000, false, 'late'],
  ] as const)('%s', async (_name, isRedisReady, afterMs, cutEndsWork, end) => {
    const since = performance.now();
    let fail: (error: Error) => void = () => undefined;
    const work = new Promise<void>((_resolve, reject) => {
      fail = reject;
    });
    let cutMs = 0;
    const cutRedis = async () => {
      cutMs = performance.now() - since;
      if (cutEndsWork) fail(new Error('the connection is closed'));
    };
    const ended = finishWork({ work, isRedisReady, cutRedis });
    await vi.advanceTimersByTimeAsync(9_000);
    expect(await ended).toBe(end);
    expect(cutMs).toBe(afterMs);
    expect(describeEnd(end)).toContain('took too long');
  });
});
