import { clocksDifferMs, type SteadyClock } from '../../base/steady-clock.ts';
import type { DurationMs, EpochMs } from '../../base/time.ts';
import { sleepForReal } from '../../base/waiting.ts';
import type { RedisCommands } from './connection.ts';
import type { RedisFaults } from './faults.ts';

/** A clock that differs from Redis's by too much. */
export interface WrongClock {
  readonly since: EpochMs;
  /** How far this host's clock is ahead of Redis's; negative: behind. */
  readonly aheadMs: DurationMs;
}

export interface ClockWatchParts {
  readonly commands: Pick<RedisCommands, 'time'>;
  readonly clock: SteadyClock;
  readonly onWrong: (wrong: WrongClock) => void;
  readonly onRight: () => void;
  /** Receives faults of Redis that need a person. */
  readonly faults: RedisFaults;
}

export type ClockWatch = ReturnType<typeof makeClockWatch>;

const faultName = "the comparison with Redis's clock";

const compareEveryMs: DurationMs = 2_000;

// One odd answer, such as that of a server which a fail-over replaces at this moment, stops no daemon, and makes none work.
const samplesMin = 2;

/**
 * Compares this host's clock with Redis's, which all daemons share. Only while it is right may the daemon lead and run steps:
 * by a clock that is ahead, deadlines of running upgrades would have passed (P2, P10).
 */
export function makeClockWatch(parts: ClockWatchParts) {
  const { commands, clock, onWrong, onRight, faults } = parts;
  let isKnown = false;
  let wrong: WrongClock | undefined;
  // Samples in a row that contradict what is known.
  let odd = 0;

  function noteClockRight({ low, high }: Bounds): void {
    const isRight = Math.max(Math.abs(low), Math.abs(high)) <= clocksDifferMs;
    const isWrong = low > clocksDifferMs || high < -clocksDifferMs;
    // The answer took too long to tell.
    if (isRight === isWrong) return;
    const aheadMs = Math.round((low + high) / 2);
    if (isRight === (wrong === undefined)) {
      odd = 0;
      if (isRight) isKnown = true;
      if (isRight) clock.confirm();
      else wrong = { since: wrong?.since ?? clock.now(), aheadMs };
      return;
    }
    odd += 1;
    if (odd < samplesMin) return;
    odd = 0;
    isKnown = true;
    if (isRight) {
      wrong = undefined;
      clock.confirm();
      onRight();
    } else {
      wrong = { since: clock.now(), aheadMs };
      onWrong(wrong);
    }
  }

  /** Never throws: while Redis does not answer, nothing new is known. */
  async function compare(): Promise<void> {
    try {
      const sentAt = clock.wallNow();
      const [seconds, microseconds] = await commands.time();
      const redisAt = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
      faults.over(faultName);
      noteClockRight({ low: sentAt - redisAt, high: clock.wallNow() - redisAt });
    } catch (error) {
      faults.met(faultName, error);
    }
  }

  const isRight = (): boolean => isKnown && wrong === undefined && !clock.hasJumped();

  return {
    compare,
    /** @returns whether the clock is right, after another comparison where it was not */
    compareUnlessRight: async (): Promise<boolean> => {
      if (!isRight()) await compare();
      return isRight();
    },
    /** Compares until the signal is aborted. */
    keepComparing: async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        await compare();
        await sleepForReal(compareEveryMs, signal);
      }
    },
    /** False while the clock is wrong, has jumped since the last comparison, or was never compared. */
    isRight,
    hasJumped: clock.hasJumped,
    /** Undefined while the clock is not known to be wrong. */
    wrong: (): WrongClock | undefined => wrong,
  };
}

/**
 * Redis read its clock between the request and the answer, so this host is ahead by something between the two. A stalled
 * process widens the bounds, and does not look like a wrong clock.
 */
interface Bounds {
  readonly low: DurationMs;
  readonly high: DurationMs;
}
