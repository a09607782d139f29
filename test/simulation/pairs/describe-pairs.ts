import { cannotMeet } from './cannot-meet.ts';
import { allPairs, nameOfPair } from './kinds.ts';

type Met = Readonly<Record<string, number>>;

/** Names of the pairs that can meet, and that no night met. */
export function missingOf(met: Met): readonly string[] {
  return unmetOf(met)
    .filter((pair) => cannotMeet(pair) === undefined)
    .map(nameOfPair);
}

/** The pairs that no night met, as lines: those that can meet first, then the others with their reasons. */
export function describePairs(met: Met): readonly string[] {
  const unmet = unmetOf(met);
  const missing = missingOf(met);
  const reasons = new Map<string, number>();
  for (const pair of unmet) {
    const why = cannotMeet(pair);
    if (why !== undefined) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  }
  return [
    `pairs      ${allPairs.length - unmet.length} of ${allPairs.length} met, ${missing.length} can meet and did not`,
    ...missing.map((name) => `  not met  ${name}`),
    ...[...reasons].map(([why, count]) => `  cannot   ${count}: ${why}`),
  ];
}

function unmetOf(met: Met) {
  return allPairs.filter((pair) => met[nameOfPair(pair)] === undefined);
}
