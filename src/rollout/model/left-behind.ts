import { sumOf } from '../../base/grouping.ts';
import { reasonOf, type Upgrade } from './upgrade.ts';
import type { UpgradeReason } from './upgrade-reason.ts';

/** Why a rollback leaves a collector on the new build. `messages/exclusions.ts` makes the sentence. */
export type LeftBehindReason =
  /** The service does not know the collector (404). */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'notListed' }
  /** The collector never showed the new build, and is not alive: it may run it. */
  | { readonly kind: 'notSeen' }
  /** Its previous build is no longer offered. */
  | { readonly kind: 'buildNotOffered' }
  /** The collector is in another rollout. */
  | { readonly kind: 'claimed' }
  | { readonly kind: 'held' }
  | { readonly kind: 'failed'; readonly rollback: string }
  | { readonly kind: 'withdrawn'; readonly rollback: string };

/** Collectors that a rollback leaves on the new build, for one reason. */
export interface LeftBehind {
  readonly why: LeftBehindReason;
  readonly count: number;
  /** Some of them. */
  readonly some: readonly LeftBehindCollector[];
}

/** A collector left on the new build: with its previous build, or with the reason why its rollback failed. */
export type LeftBehindCollector =
  | { readonly name: string; readonly had: string }
  | { readonly name: string; readonly ended: UpgradeReason };

// Kept in the record of the rollout, which is read often.
const keptMax = 50;

/** The entry for collectors left behind for one reason; empty without any. */
export function leftBehind(why: LeftBehindReason, upgrades: readonly Upgrade[]): readonly LeftBehind[] {
  if (upgrades.length === 0) return [];
  const some = upgrades
    .slice(0, keptMax)
    .map(({ identity: { collectorName: name, fromBuild: had } }) => ({ name, had }));
  return [{ why, count: upgrades.length, some }];
}

/** The entry for collectors whose rollback ended without success, some by name; empty without any. */
export function notRolledBack(
  why: LeftBehindReason,
  count: number,
  upgrades: readonly Upgrade[],
): readonly LeftBehind[] {
  if (count === 0) return [];
  const some = upgrades.slice(0, keptMax).flatMap((upgrade) => {
    const ended = reasonOf(upgrade);
    return ended === undefined ? [] : [{ name: upgrade.identity.collectorName, ended }];
  });
  return [{ why, count, some }];
}

/** Why a rollback left one collector behind. `ended`: how its own upgrade back ended; absent: it had none, or that is not kept. */
export type WhyLeftBehind = LeftBehindReason & { readonly ended?: UpgradeReason };

/** Why a rollback left this collector behind, if that is certain: by its name, or because all unnamed ones have the same reason. */
export function whyLeftBehind(
  left: readonly LeftBehind[],
  { identity: { collectorName, fromBuild } }: Upgrade,
): WhyLeftBehind | undefined {
  for (const { why, some } of left) {
    const own = some.find(({ name }) => name === collectorName);
    if (own !== undefined) return { ...why, ...('ended' in own && { ended: own.ended }) };
  }
  const unnamed = left.filter(({ count, some }) => count > some.length);
  const ofBuild = unnamed.find(
    ({ why, some }) =>
      why.kind === 'buildNotOffered' && some.some((each) => 'had' in each && each.had === fromBuild),
  );
  return (ofBuild ?? (unnamed.length === 1 ? unnamed[0] : undefined))?.why;
}

/** How many collectors are left behind, for any reason. */
export function countLeft(left: ReadonlyArray<{ readonly count: number }>): number {
  return sumOf(left, ({ count }) => count);
}
