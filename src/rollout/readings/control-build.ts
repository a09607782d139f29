import { compareBuildVersions, isSameBuild } from '../../base/build-version.ts';

/** Counts collectors that already run a target and are in no upgrade of ours. */
interface Returned {
  /** In the last complete inventory. */
  readonly inInventory: number;
  /** In the upgradable list of the control build. */
  readonly listed: number;
}

/** Builds whose upgradable lists show which upgrades have ended. */
export interface ControlBuilds {
  readonly control: string;
  /**
   * The list of this build is read in turn with that of the control build while upgrades from the control build are running.
   * Its list shows them when they have failed.
   */
  readonly other: string | undefined;
}

// Fewer collectors are no evidence: some may be too old for the API, or upgraded by someone else.
export const returnedMin = 5;

// The list leaves out collectors that the service can't upgrade. A list that leaves out most is taken to leave out all.
const listedShareMin = 1 / 2;

/**
 * Chooses the control build: a build that is no target of these upgrades. Its upgradable list shows every collector whose
 * upgrade has ended, including those on the target, which the target's own list leaves out (field-facts.md, The wire). A
 * collector that failed and stays on the control build is not listed, so builds that few collectors run come first; then
 * the newest build. The other build is the next one, or a target: every list but that of its own build shows a failed
 * collector.
 * @param offered the builds that the service offers
 * @param collectorsOn how many collectors of the fleet run a build
 */
export function chooseControlBuilds(
  offered: readonly string[],
  targets: readonly string[],
  collectorsOn: (build: string) => number,
): ControlBuilds | undefined {
  const isTarget = (build: string) => targets.some((target) => isSameBuild(target, build));
  const [control, next] = offered
    .filter((build) => !isTarget(build))
    .map((build) => ({ build, count: collectorsOn(build) }))
    .sort((a, b) => a.count - b.count || (compareBuildVersions(b.build, a.build) ?? 0));
  if (control === undefined) return undefined;
  return { control: control.build, other: next?.build ?? offered.find(isTarget) };
}

/**
 * Whether the service also lists collectors for which the control build is a downgrade. The API does not specify this
 * (collector-api.md §4.3). Undefined without enough evidence.
 */
export function isControlListWhole({ inInventory, listed }: Returned): boolean | undefined {
  return inInventory < returnedMin ? undefined : listed >= inInventory * listedShareMin;
}
