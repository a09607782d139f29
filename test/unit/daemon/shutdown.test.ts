import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { describeEnd, finishWork } from '../../../src/daemon/shutdown.ts';

const answersAtOnce = async () => true;
const neverAnswers = () => new Promise<boolean>(() => undefined);

/** Redis does not answer, by the watch of Redis. */
const isSilent = (withinMs: number) => () =>
  new Promise<boolean>((resolve) => setTimeout(() => resolve(false), withinMs));

describe('the end of a daemon', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Ends work that waits for Redis. @returns how it ended, and after how long it was cut */
  async function endWaitingWork(redisAnswers: () => Promise<boolean>, cutEndsWork = true) {
    const since = performance.now();
    let end: () => void = () => undefined;
    const work = new Promise<void>((resolve) => {
      end = resolve;
    });
    let cutMs = 0;
    const cutRedis = async () => {
      cutMs = performance.now() - since;
      if (cutEndsWork) end();
    };
    const ended = finishWork({ work, redisAnswers, cutRedis });
    await vi.advanceTimersByTimeAsync(15_000);
    return { end: await ended, cutMs };
  }

  it('comes after its work has ended', async () => {
    const cutRedis = vi.fn();
    expect(await finishWork({ work: Promise.resolve(), redisAnswers: neverAnswers, cutRedis })).toEqual({
      kind: 'done',
      redisIsAway: false,
    });
    expect(cutRedis).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('reports the error of the work', async () => {
    const work = Promise.reject(new Error('a bug'));
    const ending = finishWork({ work, redisAnswers: answersAtOnce, cutRedis: async () => undefined });
    await expect(ending).rejects.toThrow('a bug');
  });

  it.each([
    ['seven seconds after the stop, as long as Redis answers', answersAtOnce, false, 7_000],
    ['two seconds after the last answer', isSilent(0), true, 2_000],
    ['two seconds after the last answer of a Redis that is late', isSilent(800), true, 2_000],
  ])('is a cut %s', async (_when, redisAnswers, redisIsAway, afterMs) => {
    const { end, cutMs } = await endWaitingWork(redisAnswers);
    expect(end).toEqual({ kind: 'cut', redisIsAway });
    expect(cutMs).toBeGreaterThanOrEqual(afterMs);
    expect(cutMs).toBeLessThan(afterMs + 200);
  });

  it('does not treat its own stall as an outage of Redis, because one failed request is not enough', async () => {
    let asked = 0;
    const { cutMs } = await endWaitingWork(async () => {
      asked += 1;
      if (asked > 1) return true;
      // Longer than Redis may be away: an event loop that was held up finds its timers first, and answers after them.
      return isSilent(3_000)();
    });
    expect(cutMs).toBeGreaterThanOrEqual(7_000);
  });

  it('is reported as late when the work continues even without Redis', async () => {
    expect((await endWaitingWork(isSilent(0), false)).end).toEqual({ kind: 'late', redisIsAway: true });
  });

  it('blames Redis only when Redis is unreachable, and not when work takes too long', async () => {
    expect(describeEnd((await endWaitingWork(answersAtOnce, false)).end)).toBe(
      'not all parts have ended; they took longer than 7 s, so the next start continues work in progress',
    );
    expect(describeEnd((await endWaitingWork(isSilent(0))).end)).toContain('Redis is unreachable');
  });
});
