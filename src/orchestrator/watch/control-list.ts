import { isSameBuild } from '../../base/build-version.ts';
import { chooseControlBuild, isControlListWhole, returnedMin } from '../../rollout/readings/control-build.ts';
import type { FleetRegister } from '../ports/fleet-register.ts';
import type { ListedCollector } from '../ports/fleet-service.ts';
import type { Watched } from './watched-upgrades.ts';

export type ControlList = ReturnType<typeof makeControlList>;

/** What the watch knows about the upgradable list of the control build: whether it shows every upgrade that has ended. */
export function makeControlList(register: Pick<FleetRegister, 'lastOffered'>) {
  let build: string | undefined;
  let inInventory = 0;
  let isWhole: boolean | undefined;
  return {
    /** Chooses the build, and another one when a rollout goes to it. It sends no request. */
    choose: async ({ byCollector }: Watched): Promise<void> => {
      const upgrades = [...byCollector.values()].flat().map(({ upgrade }) => upgrade.identity);
      const isTarget = (chosen: string) => upgrades.some(({ toBuild }) => isSameBuild(toBuild, chosen));
      if (build !== undefined && !isTarget(build)) return;
      const offered = await register.lastOffered();
      build = chooseControlBuild(offered?.builds ?? [], upgrades);
      isWhole = undefined;
    },
    /** The build whose list shows all ends; undefined: none is known. */
    whole: (): string | undefined => (isWhole === true ? build : undefined),
    /** The build whose list can be tried now, because enough collectors are back. */
    untried: (): string | undefined =>
      isWhole === undefined && inInventory >= returnedMin ? build : undefined,
    /** @param returned how many collectors a complete reading of the inventory showed on a target */
    noteInventory: (returned: number): void => {
      inInventory = returned;
    },
    /** @param returned the same for a reading of the list; undefined: the service refuses the build */
    noteListed: (returned: number | undefined): void => {
      isWhole =
        returned === undefined ? false : (isControlListWhole({ inInventory, listed: returned }) ?? isWhole);
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
      alive && !byCollector.has(id) && rollouts.some(({ targetBuild }) => isSameBuild(build, targetBuild)),
  ).length;
}
