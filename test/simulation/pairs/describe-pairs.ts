import { cannotMeet } from './cannot-meet.ts';
import { allPairs, nameOfPair } from './kinds.ts';

/** The pairs that no night met, as lines: those that can meet first, then the others with their reasons. */
export function describePairs(met: Readonly<Record<string, number>>): readonly string[] {
  const unmet = allPairs.filter((pair) => met[nameOfPair(pair)] === undefined);
  const missing = unmet.filter((pair) => cannotMeet(pair) === undefined);
  const reasons = new Map<string, number>();
  for (const pair of unmet) {
    const why = cannotMeet(pair);
    if (why !== undefined) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  }
  return [
    `pairs      ${allPairs.length - unmet.length} of ${allPairs.length} met, ${missing.length} can meet and did not`,
    ...missing.map((pair) => `  not met  ${nameOfPair(pair)}`),
    ...[...reasons].map(([why, count]) => `  cannot   ${count}: ${why}`),
  ];
}
