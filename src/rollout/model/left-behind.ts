import { reasonOf, type Upgrade } from './upgrade.ts';
import type { TextReason, UpgradeReason } from './upgrade-reason.ts';

/** Why a rollback does not take a collector back; `messages/exclusions.ts` makes the sentence. */
export type LeftBehindReason =
  /** The service does not know it (404). */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'notListed' }
  /** The build that it had is no longer on offer. */
  | { readonly kind: 'buildNotOffered' }
  /** Another rollout has it. */
  | { readonly kind: 'claimed' }
  | { readonly kind: 'held' }
  | { readonly kind: 'failed'; readonly rollback: string }
  | { readonly kind: 'withdrawn'; readonly rollback: string }
  | TextReason;

/** Collectors that a rollback does not take back, for one reason. */
export interface LeftBehind {
  readonly why: LeftBehindReason;
  readonly count: number;
  /** Some of them. */
  readonly some: readonly LeftBehindCollector[];
}

/** A collector that stays: with the build that it had before, or with why the rollback did not bring it back. */
export type LeftBehindCollector =
  | { readonly name: string; readonly had: string }
  | { readonly name: string; readonly ended: UpgradeReason }
  /** As an earlier version wrote it. */
  | { readonly text: string };

const shownMax = 3;

/** Those that stay for one reason; none of it where there is nobody. */
export function leftBehind(why: LeftBehindReason, upgrades: readonly Upgrade[]): readonly LeftBehind[] {
  if (upgrades.length === 0) return [];
  const some = upgrades
    .slice(0, shownMax)
    .map(({ identity: { collectorName: name, fromBuild: had } }) => ({ name, had }));
  return [{ why, count: upgrades.length, some }];
}

/** Those that the rollback itself did not bring back: what ended without success, some of it by name. */
export function notBrought(
  why: LeftBehindReason,
  count: number,
  upgrades: readonly Upgrade[],
): readonly LeftBehind[] {
  if (count === 0) return [];
  const some = upgrades.slice(0, shownMax).flatMap((upgrade) => {
    const ended = reasonOf(upgrade);
    return ended === undefined ? [] : [{ name: upgrade.identity.collectorName, ended }];
  });
  return [{ why, count, some }];
}

/** How many stay, whatever the reason. */
export function countLeft(left: ReadonlyArray<{ readonly count: number }>): number {
  return left.reduce((sum, { count }) => sum + count, 0);
}
