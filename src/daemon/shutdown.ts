import type { DurationMs } from '../base/time.ts';

export interface FinishWorkParts {
  /** The work that ends by itself, unless it waits for Redis. */
  readonly work: Promise<void>;
  /** Checks within a moment whether Redis answers. Never throws. */
  readonly redisAnswers: () => Promise<boolean>;
  /** Closes the connections to Redis, so that everything that waits for it fails. */
  readonly cutRedis: () => Promise<void>;
}

export interface WorkEnd {
  /** `cut`: it ended when the connections were closed. `late`: it has not ended, and is abandoned. */
  readonly kind: 'done' | 'cut' | 'late';
  /** False when the work took too long although Redis answered. */
  readonly redisIsAway: boolean;
}

// Without Redis no result can be stored. A connection that is only being reopened is back within this time.
const awayMaxMs: DurationMs = 2_000;

// Failed checks in a row: a process that was suspended for seconds finds its own check late.
const silencesMin = 2;

// In any case longer than calls in flight may take, with their steps after them.
const endWithinMs: DurationMs = 7_000;

// Work that fails ends at once, or after a short wait of its own.
const cutEndsWithinMs: DurationMs = 1_000;

const checkEveryMs: DurationMs = 100;

/**
 * Waits for work to end, but only for a limited time for Redis. The next start continues from what Redis has (P11): a
 * create whose answer was not stored is in doubt.
 * @throws what the work threw, unless it was cut
 */
export async function finishWork({ work, redisAnswers, cutRedis }: FinishWorkParts): Promise<WorkEnd> {
  const beganAt = performance.now();
  const redisWatch = watchRedis(redisAnswers);
  const isHopeless = (): boolean => redisWatch.isLost() || performance.now() - beganAt >= endWithinMs;
  const ended = await endsBefore(work, isHopeless);
  redisWatch.stop();
  if (ended) {
    await work;
    return { kind: 'done', redisIsAway: false };
  }
  const redisIsAway = redisWatch.isLost();
  const cutAt = performance.now();
  await cutRedis();
  const hasEnded = await endsBefore(work, () => performance.now() - cutAt >= cutEndsWithinMs);
  return { kind: hasEnded ? 'cut' : 'late', redisIsAway };
}

/** Describes how a daemon's work ended. */
export function describeEnd({ kind, redisIsAway }: WorkEnd): string {
  if (kind === 'done') return 'all parts are closed';
  const parts = kind === 'cut' ? 'all parts are closed' : 'not all parts have ended';
  const cause = redisIsAway ? 'Redis is unreachable' : `they took longer than ${endWithinMs / 1_000} s`;
  return `${parts}; ${cause}, so the next start continues work in progress`;
}

/** Checks repeatedly whether Redis answers, until it is stopped. */
function watchRedis(answers: () => Promise<boolean>) {
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

/** True when the work ended, successfully or not; false when `isGivenUp` was true first. */
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
