import type { DurationMs } from '../base/time.ts';

export interface EndInTimeParts {
  /** What ends by itself, unless it waits for Redis. */
  readonly work: Promise<void>;
  /** Asks Redis, within a moment, for what the work waits for. Never throws. */
  readonly redisAnswers: () => Promise<boolean>;
  /** Ends the connections to Redis: whatever waits for it is refused. */
  readonly cutRedis: () => Promise<void>;
}

export interface WorksEnd {
  /** `cut`: it ended when the connections did; `late`: not even then, and it is left to itself. */
  readonly kind: 'done' | 'cut' | 'late';
  /** False also when the work was cut because it took too long: that is no fault of Redis. */
  readonly redisIsAway: boolean;
}

// While Redis is away nothing that is under way can be stored: a connection that was only made again is back by then.
const awayMaxMs: DurationMs = 2_000;

// In a row: a process that was stopped for seconds finds its own question late, and the answer only then.
const silencesMin = 2;

// However it is with Redis: longer than calls that are out may take, and their steps after them.
const endWithinMs: DurationMs = 7_000;

// What is refused ends at once, or after its own pause of a moment.
const cutEndsWithinMs: DurationMs = 1_000;

const checkEveryMs: DurationMs = 100;

/**
 * Waits for work to end; for Redis, only for so long. All of it is settled at the next start by what Redis has (P11): a
 * create whose answer could not be stored is in doubt. @throws what the work threw, unless it was cut
 */
export async function endInTime({ work, redisAnswers, cutRedis }: EndInTimeParts): Promise<WorksEnd> {
  const beganAt = performance.now();
  const pulse = followPulse(redisAnswers);
  const isHopeless = (): boolean => pulse.isLost() || performance.now() - beganAt >= endWithinMs;
  const ended = await endsBefore(work, isHopeless);
  pulse.stop();
  if (ended) {
    await work;
    return { kind: 'done', redisIsAway: false };
  }
  const redisIsAway = pulse.isLost();
  const cutAt = performance.now();
  await cutRedis();
  const hasEnded = await endsBefore(work, () => performance.now() - cutAt >= cutEndsWithinMs);
  return { kind: hasEnded ? 'cut' : 'late', redisIsAway };
}

/** How a daemon's work ended, in words. */
export function describeEnd({ kind, redisIsAway }: WorksEnd): string {
  if (kind === 'done') return 'all parts are closed';
  const parts = kind === 'cut' ? 'all parts are closed' : 'not all parts have ended';
  const cause = redisIsAway ? 'Redis is away' : `they took longer than ${endWithinMs / 1_000} s`;
  return `${parts}; ${cause}, so work in progress is settled at the next start`;
}

/** Asks again and again, until it is stopped. */
function followPulse(answers: () => Promise<boolean>) {
  let answeredAt = performance.now();
  let silences = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const ask = (): void => {
    void answers().then((isThere) => {
      silences = isThere ? 0 : silences + 1;
      if (isThere) answeredAt = performance.now();
      if (!stopped) timer = setTimeout(ask, checkEveryMs);
    });
  };
  ask();
  return {
    isLost: () => silences >= silencesMin && performance.now() - answeredAt >= awayMaxMs,
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** True when the work has ended, well or not; false when it is given up before. */
async function endsBefore(work: Promise<void>, isGivenUp: () => boolean): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<false>((resolve) => {
    timer = setInterval(() => {
      if (isGivenUp()) resolve(false);
    }, checkEveryMs);
  });
  const hasEnded = () => true;
  const ended = await Promise.race([work.then(hasEnded, hasEnded), givenUp]);
  clearInterval(timer);
  return ended;
}
