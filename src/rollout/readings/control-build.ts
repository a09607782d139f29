import { compareBuildVersions, isSameBuild } from '../../base/build-version.ts';

/** Counts collectors that already run a target and are in no upgrade of ours. */
interface Returned {
  /** In the last complete inventory. */
  readonly inInventory: number;
  /** In the upgradable list of the control build. */
  readonly listed: number;
}

// Fewer collectors are no evidence: some may be too old for the API, or upgraded by someone else.
export const returnedMin = 5;

// The list leaves out collectors that the service can't upgrade. A list that leaves out most is taken to leave out all.
const listedShareMin = 1 / 2;

/**
 * Chooses the control build: a build that is no target of these upgrades. Its upgradable list shows every collector whose
 * upgrade has ended, including those on the target, which the target's own list leaves out (field-facts.md, The wire).
 * Prefers builds that no collector comes from, because a collector that failed and stays on the build is not listed; then
 * the newest build.
 * @param offered the builds that the service offers
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
 * Whether the service also lists collectors for which the control build is a downgrade. The API does not specify this
 * (collector-api.md §4.3). Undefined without enough evidence.
 */
export function isControlListWhole({ inInventory, listed }: Returned): boolean | undefined {
  return inInventory < returnedMin ? undefined : listed >= inInventory * listedShareMin;
}
