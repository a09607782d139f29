import { describe, expect, it } from 'vitest';
import { makeSteadyClock } from '../../../../src/base/steady-clock.ts';
import { makeClockWatch } from '../../../../src/redis/connection/clock-watch.ts';
import { settableClocks } from '../../../support/settable-clocks.ts';

const anHour = 3_600_000;

/** A daemon whose wall clock is off by this, beside a Redis with the right one. */
function aDaemon({ aheadMs = 0 } = {}) {
  const { clocks, pass, setWall, suspend } = settableClocks();
  let redisAheadMs = -aheadMs;
  const answer = { afterMs: 1, fails: false };
  const noted: string[] = [];
  const clock = makeSteadyClock(clocks);
  const watch = makeClockWatch({
    clock,
    commands: {
      time: async () => {
        pass(answer.afterMs);
        if (answer.fails) throw new Error('NOPERM');
        const redisAt = clocks.wallNow() + redisAheadMs;
        pass(answer.afterMs);
        return [Math.floor(redisAt / 1_000), (redisAt % 1_000) * 1_000];
      },
    },
    onWrong: ({ aheadMs: byMs }) => noted.push(`wrong by ${Math.round(byMs / 1_000)}s`),
    onRight: () => noted.push('right'),
    faults: {
      met: (what, error) => noted.push(`${what}: ${String(error)}`),
      over: () => undefined,
      reason: () => null,
    },
  });
  return {
    watch,
    clock,
    noted,
    answer,
    suspend,
    /** Somebody sets the clock of the daemon's host. */
    setWall: (byMs: number) => {
      setWall(byMs);
      redisAheadMs -= byMs;
    },
    setRedis: (byMs: number) => {
      redisAheadMs += byMs;
    },
    compare: async (times: number) => {
      for (let time = 0; time < times; time += 1) {
        pass(2_000);
        await watch.compare();
      }
    },
  };
}

describe("the comparison with Redis's clock (P2, P10)", () => {
  it('has to be made before the daemon may work', async () => {
    const { watch, noted, compare } = aDaemon({ aheadMs: 9_000 });
    expect(watch.isRight()).toBe(false);
    await compare(1);
    expect(watch.isRight()).toBe(true);
    expect(noted).toEqual([]);
  });

  it.each([
    [anHour, 'wrong by 3600s'],
    [-anHour, 'wrong by -3600s'],
    [11_000, 'wrong by 11s'],
  ])(
    'keeps a daemon that starts %i ms off from working, until the clock is right again',
    async (by, words) => {
      const { watch, noted, compare, setWall } = aDaemon({ aheadMs: by });
      await compare(3);
      expect(watch.isRight()).toBe(false);
      expect(watch.wrong()).toMatchObject({ aheadMs: by });
      expect(noted).toEqual([words]);
      setWall(-by);
      await compare(1);
      expect(watch.isRight()).toBe(false);
      await compare(2);
      expect(watch.isRight()).toBe(true);
      expect(noted).toEqual([words, 'right']);
    },
  );

  it('is not waited for when the clock jumps: the daemon stops at once, and its time goes on', async () => {
    const { watch, clock, noted, compare, setWall } = aDaemon();
    await compare(1);
    const before = clock.now();
    setWall(anHour);
    expect(watch.isRight()).toBe(false);
    expect(clock.now()).toBe(before);
    await compare(2);
    expect(noted).toEqual(['wrong by 3600s']);
    expect(clock.now()).toBe(before + 4_004);
  });

  it('lets a daemon go on after a suspension, by the wall clock', async () => {
    const { watch, clock, noted, compare, suspend } = aDaemon();
    await compare(1);
    suspend(anHour);
    expect(watch.isRight()).toBe(false);
    await compare(1);
    expect(watch.isRight()).toBe(true);
    expect(clock.now()).toBe(clock.wallNow());
    expect(noted).toEqual([]);
  });

  it('ignores one odd answer, as of a server that a fail-over replaces', async () => {
    const { watch, noted, compare, setRedis } = aDaemon();
    await compare(1);
    for (let time = 0; time < 3; time += 1) {
      setRedis(anHour);
      await compare(1);
      expect(watch.isRight()).toBe(true);
      setRedis(-anHour);
      await compare(1);
    }
    expect(noted).toEqual([]);
  });

  it('does not take a stalled process for a wrong clock, nor a wrong clock for a right one', async () => {
    const stalled = aDaemon();
    await stalled.compare(1);
    stalled.answer.afterMs = 60_000;
    await stalled.compare(3);
    expect(stalled.watch.isRight()).toBe(true);
    const wrong = aDaemon({ aheadMs: 30_000 });
    await wrong.compare(2);
    wrong.answer.afterMs = 60_000;
    await wrong.compare(3);
    expect(wrong.watch.isRight()).toBe(false);
    expect([...stalled.noted, ...wrong.noted]).toEqual(['wrong by 30s']);
  });

  it('keeps what it knows while Redis does not answer', async () => {
    const { watch, noted, compare, answer } = aDaemon();
    await compare(1);
    answer.fails = true;
    await compare(1);
    expect(watch.isRight()).toBe(true);
    expect(noted).toEqual(["the comparison with Redis's clock: Error: NOPERM"]);
  });
});
