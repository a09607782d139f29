import type { DurationMs } from '../base/time.ts';

export interface EndInTimeParts {
  /** What ends by itself, unless it waits for Redis. */
  readonly work: Promise<void>;
  /** Asks Redis, within a moment, for what the work waits for. Never throws. */
  readonly redisAnswers: () => Promise<boolean>;
  /** Ends the connections to Redis: whatever waits for it is refused. */
  readonly cutRedis: () => Promise<void>;
}

/** `late`: it did not end even then, and is left to itself. */
export type WorksEnd = 'done' | 'cut' | 'late';

// While Redis is away nothing that is under way can be stored: a connection that was only made anew is back by then.
const awayMaxMs: DurationMs = 2_000;

// In a row: a process that stood still for seconds finds its own question late, and the answer only then.
const silencesMin = 2;

// However it is with Redis: longer than calls that are out may take, and their steps after them.
const endWithinMs: DurationMs = 7_000;

// What is refused ends at once, or after its own pause of a moment.
const cutEndsWithinMs: DurationMs = 1_000;

const lookEveryMs: DurationMs = 100;

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
    return 'done';
  }
  const cutAt = performance.now();
  await cutRedis();
  return (await endsBefore(work, () => performance.now() - cutAt >= cutEndsWithinMs)) ? 'cut' : 'late';
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
      if (!stopped) timer = setTimeout(ask, lookEveryMs);
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
    }, lookEveryMs);
  });
  const hasEnded = () => true;
  const ended = await Promise.race([work.then(hasEnded, hasEnded), givenUp]);
  clearInterval(timer);
  return ended;
}
