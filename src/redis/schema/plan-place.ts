import { invariant } from '../../base/assert.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';

/** More waves, lanes and collectors than any plan has. Their product stays exact in a double, below 2^53. */
export const placeBounds = { waves: 1_000, lanes: 1_000_000, orders: 1_000_000 } as const;

/** The range of scores for one lane and one wave, in the sorted set of pending collectors. */
export const laneSpan = placeBounds.orders;
export const waveSpan = placeBounds.orders * placeBounds.lanes;

/** A collector's score by wave, then lane, then plan order: the next ones of a lane are one range. */
export function pendingScoreOf({ identity: { wave, lane, order } }: Upgrade): number {
  return wave * waveSpan + lane * laneSpan + order;
}

/** The parts of a `pendingScoreOf`. */
export function parsePendingScore(score: number): { lane: number; order: number } {
  return { lane: Math.floor(score / laneSpan) % placeBounds.lanes, order: score % laneSpan };
}

/**
 * A collector's score in plan order, with its wave in the lowest digits, so that a list of one wave need not read the
 * records.
 */
export function orderScoreOf({ identity: { wave, order } }: Upgrade): number {
  return order * placeBounds.waves + wave;
}

/** The wave in an `orderScoreOf`. */
export function waveOfOrderScore(score: number): number {
  return score % placeBounds.waves;
}

/** @throws when a position exceeds the limits, and its score would be ambiguous */
export function assertPlaces(upgrades: readonly Upgrade[]): void {
  for (const { identity } of upgrades) {
    const { collectorId, wave, lane, order } = identity;
    const isInside =
      isBelow(wave, placeBounds.waves) &&
      isBelow(lane, placeBounds.lanes) &&
      isBelow(order, placeBounds.orders);
    // The message is built only on failure, because this runs for each collector of a fleet.
    if (isInside) continue;
    invariant(
      false,
      `collector ${collectorId} is at place ${order} of lane ${lane} in wave ${wave}, and a plan ends below place ` +
        `${placeBounds.orders}, lane ${placeBounds.lanes}, wave ${placeBounds.waves}`,
    );
  }
}

function isBelow(value: number, bound: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < bound;
}
