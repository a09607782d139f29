import { isSameBuild } from '../../base/build-version.ts';
import {
  type ControlBuilds,
  chooseControlBuilds,
  isControlListWhole,
  returnedMin,
} from '../../rollout/readings/control-build.ts';
import type { FleetRegister } from '../ports/fleet-register.ts';
import type { ListedCollector } from '../ports/fleet-service.ts';
import type { Watched } from './watched-upgrades.ts';

export type ControlList = ReturnType<typeof makeControlList>;

/** What a complete reading of the inventory showed of the fleet. */
export interface FleetBuilds {
  /** How many collectors run a target and are in no upgrade of ours. */
  readonly returned: number;
  /** How many collectors run each build. */
  readonly collectorsOn: ReadonlyMap<string, number>;
}

/** What the watch knows about the upgradable list of the control build: whether it shows every upgrade that has ended. */
export function makeControlList(register: Pick<FleetRegister, 'lastOffered'>) {
  let builds: ControlBuilds | undefined;
  let fleet: FleetBuilds = { returned: 0, collectorsOn: new Map() };
  let isFleetNew = false;
  let isWhole: boolean | undefined;
  let targets: readonly string[] = [];
  let last: string | undefined;
  return {
    /** Chooses the builds, and others when a rollout goes to the control build. It sends no request. */
    choose: async ({ byCollector }: Watched): Promise<void> => {
      targets = [...new Set([...byCollector.values()].flat().map(({ upgrade }) => upgrade.identity.toBuild))];
      const isKept =
        builds !== undefined && !targets.some((target) => isSameBuild(target, builds?.control ?? ''));
      // While its list has not been tried, a newer inventory may show a better one.
      if (isKept && (isWhole !== undefined || !isFleetNew)) return;
      isFleetNew = false;
      const offered = await register.lastOffered();
      builds = chooseControlBuilds(
        offered?.builds ?? [],
        targets,
        (build) => fleet.collectorsOn.get(build) ?? 0,
      );
      isWhole = undefined;
    },
    /** The build whose list shows all ends; undefined: none is known. */
    whole: (): string | undefined => (isWhole === true ? builds?.control : undefined),
    /** The build whose list can be tried now, because enough collectors are back. */
    untried: (): string | undefined =>
      isWhole === undefined && fleet.returned >= returnedMin ? builds?.control : undefined,
    /** The build whose list is read together with that of the control build, if that hides failures of running upgrades. */
    inTurnWith: ({ byCollector }: Watched): string | undefined => {
      if (isWhole !== true || builds?.other === undefined) return undefined;
      const { control, other } = builds;
      const isHidden = [...byCollector.values()]
        .flat()
        .some(
          ({ upgrade: { identity, progress } }) =>
            progress.state === 'upgrading' && isSameBuild(identity.fromBuild, control),
        );
      return isHidden ? other : undefined;
    },
    /** The build whose list is read next. @param other the one that is read in turn with the control build */
    next: (control: string, other: string | undefined): string => {
      last = other === undefined || last === other ? control : other;
      return last;
    },
    noteInventory: (seen: FleetBuilds): void => {
      fleet = seen;
      isFleetNew = true;
    },
    /**
     * Notes a reading of the control list.
     * @param returned how many collectors on a target it showed; undefined: the service refuses the build
     */
    noteListed: (build: string, returned: number | undefined): void => {
      if (build === builds?.control) {
        isWhole =
          returned === undefined
            ? false
            : (isControlListWhole({ inInventory: fleet.returned, listed: returned }) ?? isWhole);
      } else if (returned === undefined && builds !== undefined) {
        // The build was withdrawn. That of a target is on offer while its rollout runs (P6).
        builds = { ...builds, other: targets.find((target) => !isSameBuild(target, build)) };
      }
    },
  };
}

/** How many of these collectors run the target of a rollout, and are in no upgrade of ours. */
export function countReturned(
  collectors: readonly ListedCollector[],
  { rollouts, byCollector }: Pick<Watched, 'rollouts' | 'byCollector'>,
): number {
  return collectors.filter(
    ({ id, alive, build }) =>
      alive && !byCollector.has(id) && rollouts.some(({ plan }) => isSameBuild(build, plan.targetBuild)),
  ).length;
}

/** How many of these collectors run each build. */
export function countBuildsOf(collectors: readonly ListedCollector[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { build } of collectors) counts.set(build, (counts.get(build) ?? 0) + 1);
  return counts;
}
