/** How a stratum stands when a wave is filled. */
export interface SeatClaim {
  /** Members that could still take a seat. */
  readonly left: number;
  /** An earlier wave has members of it. */
  readonly covered: boolean;
}

/**
 * Shares the seats of a wave among the strata, which come largest first: one for each that no earlier wave covers, one
 * for each of the others, and what remains in proportion to what is left of each (DESIGN §4, Waves).
 * @returns seats of each stratum, never more than are left of it
 */
export function shareSeats(seats: number, claims: readonly SeatClaim[]): number[] {
  const given = claims.map(() => 0);
  let free = Math.min(
    seats,
    claims.reduce((sum, { left }) => sum + left, 0),
  );
  for (const turn of [false, true]) {
    for (const [index, { left, covered }] of claims.entries()) {
      if (free === 0) return given;
      if (covered !== turn || left === 0) continue;
      given[index] = 1;
      free -= 1;
    }
  }
  const inProportion = divideByRemainder(
    free,
    claims.map(({ left }, index) => left - (given[index] ?? 0)),
  );
  return given.map((count, index) => count + (inProportion[index] ?? 0));
}

/** Divides by the largest remainder; whole numbers throughout, so that no rounding of fractions decides. */
function divideByRemainder(seats: number, weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return weights.map(() => 0);
  const shares = weights.map((weight) => Math.floor((seats * weight) / total));
  const rest = seats - shares.reduce((sum, share) => sum + share, 0);
  const favoured = weights
    .map((weight, index) => ({ index, remainder: (seats * weight) % total }))
    .sort((a, b) => b.remainder - a.remainder || a.index - b.index)
    .slice(0, rest);
  for (const { index } of favoured) shares[index] = (shares[index] ?? 0) + 1;
  return shares;
}
