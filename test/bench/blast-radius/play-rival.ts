import { assertNever } from '../../../src/base/assert.ts';
import { seededChance } from '../../../src/base/chance.ts';
import type { DurationMs, EpochMs } from '../../../src/base/time.ts';
import type { FateOf } from '../../../src/rehearsal/world/fates.ts';
import { type Fleet, fleetSize } from './draw-fleet.ts';

/** How one rival did. */
export interface RivalPlay {
  /** Collectors of the broken stratum for which a task was created. */
  readonly harmed: number;
  /** Upgraded collectors outside it, as a share of all there. */
  readonly othersDone: number;
  readonly makespanMs: DurationMs;
  readonly stopped: boolean;
}

// Wider than most scripts are: 1 % of the fleet tries the build first, and more than 5 % failures stop it.
const canarySize = fleetSize * 0.01;
const failedMax = 0.05;
const slots = 50;

// Better than most scripts: a failed task is tried once more, whoever does not come back is seen and counted, and the
// canary is watched for a while before the rest begins.
const triesMax = 2;
const retryAfterMs: DurationMs = 2 * 60_000;
const goneAfterMs: DurationMs = 10 * 60_000;
const deadSeenAfterMs: DurationMs = 5 * 60_000;
const soakMs: DurationMs = 30 * 60_000;

interface Outcome {
  readonly collectorId: number;
  /** When its slot is free again. */
  readonly freeAt: EpochMs;
  /** When the rival knows that it failed; null: it did not. */
  readonly failureSeenAt: EpochMs | null;
}

/**
 * A random canary of 1 % of the fleet, then everything, 50 at a time.
 * @param watches the failures among all tried so far stop it at any time; without, once the canary has passed nothing does
 */
export function playRival(
  seed: number,
  fleet: Fleet,
  fateOf: FateOf,
  watches: 'canary' | 'always',
): RivalPlay {
  const order = shuffled(
    fleet.snapshot.collectors.map(({ id }) => id),
    seededChance(seed ^ 0x5eed),
  );
  const free: EpochMs[] = Array.from({ length: slots }, () => 0);
  const outcomes: Outcome[] = [];
  const failuresSeen: EpochMs[] = [];
  const play = (ids: readonly number[], from: EpochMs, mustStop: (now: EpochMs) => boolean): boolean => {
    for (let slot = 0; slot < slots; slot += 1) free[slot] = Math.max(from, free[slot] ?? from);
    for (const collectorId of ids) {
      const startsAt = Math.min(...free);
      if (mustStop(startsAt)) return false;
      const outcome = upgrade(collectorId, startsAt, fateOf);
      free[free.indexOf(startsAt)] = outcome.freeAt;
      outcomes.push(outcome);
      if (outcome.failureSeenAt !== null) failuresSeen.push(outcome.failureSeenAt);
    }
    return true;
  };
  const failedBy = (now: EpochMs) => failuresSeen.filter((at) => at <= now).length;
  const endedBy = (now: EpochMs) => outcomes.filter(({ freeAt }) => freeAt <= now).length;

  const canaryMustStop = (now: EpochMs) => failedBy(now) > canarySize * failedMax;
  let isThrough = play(order.slice(0, canarySize), 0, canaryMustStop);
  const soakedAt = Math.max(...free) + soakMs;
  if (isThrough && !canaryMustStop(soakedAt)) {
    const mustStop = (now: EpochMs) => watches === 'always' && failedBy(now) > endedBy(now) * failedMax;
    isThrough = play(order.slice(canarySize), soakedAt, mustStop);
  } else isThrough = false;

  const tried = outcomes.filter(({ collectorId }) => fleet.broken.has(collectorId)).length;
  const done = outcomes.filter(
    ({ collectorId, failureSeenAt }) => failureSeenAt === null && !fleet.broken.has(collectorId),
  ).length;
  return {
    harmed: tried,
    othersDone: done / (order.length - fleet.broken.size),
    makespanMs: Math.max(...outcomes.map(({ freeAt }) => freeAt)),
    stopped: !isThrough,
  };
}

function upgrade(collectorId: number, startsAt: EpochMs, fateOf: FateOf): Outcome {
  let at = startsAt;
  for (let attempt = 1; ; attempt += 1) {
    const { durationMs, ends } = fateOf(collectorId, attempt);
    const freeAt = at + durationMs;
    switch (ends.kind) {
      case 'succeeded':
        return { collectorId, freeAt, failureSeenAt: null };
      case 'lost':
        return { collectorId, freeAt, failureSeenAt: freeAt + goneAfterMs };
      case 'dies':
        return { collectorId, freeAt, failureSeenAt: freeAt + ends.afterMs + deadSeenAfterMs };
      case 'failed':
        if (attempt === triesMax) return { collectorId, freeAt, failureSeenAt: freeAt };
        at = freeAt + retryAfterMs;
        break;
      default:
        return assertNever(ends);
    }
  }
}

function shuffled(ids: readonly number[], chance: () => number): readonly number[] {
  return ids
    .map((id) => ({ id, rank: chance() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ id }) => id);
}
