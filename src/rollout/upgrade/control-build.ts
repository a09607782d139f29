import { compareBuildVersions, isSameBuild } from '../../base/build-version.ts';

/** What a list showed of collectors that run a target already and are in no upgrade of ours. */
interface Returned {
  /** On the last whole inventory. */
  readonly inInventory: number;
  /** On the upgradable list of the control build. */
  readonly listed: number;
}

// Fewer collectors prove nothing: some may be too old for the API, or be upgraded by someone else.
export const returnedMin = 5;

// The list leaves out collectors that the service can't upgrade; one that leaves out most of them leaves out all.
const listedShareMin = 1 / 2;

/**
 * A build that no collector goes to, so that its upgradable list shows every collector whose upgrade is over: also those that
 * are back, which the list of their target leaves out (field-facts.md, The wire). One that nobody comes from is preferred,
 * since a collector that failed and stays on it is not listed; then the newest.
 * @param offered what the service offers
 */
export function chooseControlBuild(
  offered: readonly string[],
  upgrades: ReadonlyArray<{ readonly fromBuild: string; readonly toBuild: string }>,
): string | undefined {
  const countOf = (build: string) => upgrades.filter(({ fromBuild }) => isSameBuild(fromBuild, build)).length;
  return offered
    .filter((build) => !upgrades.some(({ toBuild }) => isSameBuild(toBuild, build)))
    .map((build) => ({ build, from: countOf(build) }))
    .sort((a, b) => a.from - b.from || (compareBuildVersions(b.build, a.build) ?? 0))[0]?.build;
}

/**
 * Whether the service lists collectors that would go back to the control build, which is not specified (collector-api.md
 * §4.3). undefined: too few collectors have shown it.
 */
export function isControlListWhole({ inInventory, listed }: Returned): boolean | undefined {
  return inInventory < returnedMin ? undefined : listed >= inInventory * listedShareMin;
}
