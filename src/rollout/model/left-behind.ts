import type { Upgrade } from './upgrade.ts';

/** Collectors that a rollback does not take back, for one reason. */
export interface LeftBehind {
  readonly reason: string;
  readonly count: number;
  /** Of some, with the build each had before. */
  readonly names: readonly string[];
}

const namesMax = 3;

/** Those that stay for one reason; none of it where there is nobody. */
export function leftBehind(reason: string, upgrades: readonly Upgrade[]): readonly LeftBehind[] {
  if (upgrades.length === 0) return [];
  const names = upgrades
    .slice(0, namesMax)
    .map(({ identity: { collectorName, fromBuild } }) => `${collectorName} (had ${fromBuild})`);
  return [{ reason, count: upgrades.length, names }];
}

/** Those that the rollback itself did not bring back: what ended without success, some of it by name. */
export function notBrought(how: string, count: number, some: readonly Upgrade[]): readonly LeftBehind[] {
  if (count === 0) return [];
  const names = some
    .slice(0, namesMax)
    .map(
      (upgrade) =>
        `${upgrade.identity.collectorName} (${'reason' in upgrade.progress ? upgrade.progress.reason : upgrade.progress.state})`,
    );
  return [{ reason: how, count, names }];
}

/** How many stay, whatever the reason. */
export function countLeft(left: readonly LeftBehind[]): number {
  return left.reduce((sum, { count }) => sum + count, 0);
}
