import type { PlanGroups, Stratum } from '../model/plan-groups.ts';
import type { HeldStratum, Rollout } from '../model/rollout.ts';
import type { Upgrade } from '../model/upgrade.ts';
import { makeLaneBook } from './group-collectors.ts';

/** A group that is held for what its collectors share, and its upgrades. */
export interface HeldGroup {
  readonly held: HeldStratum;
  readonly members: readonly Upgrade[];
}

/**
 * Gives a held group a stratum of its own, with lanes like those that its members are in. Repeatable: members that were
 * counted there already are not taken from their former strata again.
 */
export function splitGroup(
  rollout: Rollout,
  groups: PlanGroups,
  { held, members }: HeldGroup,
): { readonly rollout: Rollout; readonly groups: PlanGroups; readonly upgrades: readonly Upgrade[] } {
  const { attributes } = held;
  const known = groups.strata.findIndex(({ label }) => label === held.label);
  const stratum = known === -1 ? groups.strata.length : known;
  const sizes = rollout.waves.map(
    (_wave, index) => members.filter(({ identity }) => identity.wave === index).length,
  );
  const isCounted = groups.strata[known]?.sizes.every((size, wave) => size === sizes[wave]) === true;
  const strata = groups.strata.map(({ sizes: former, ...rest }, index): Stratum => {
    const leave = (wave: number) =>
      members.filter(({ identity }) => identity.stratum === index && identity.wave === wave).length;
    if (index === stratum) return { ...rest, sizes };
    return { ...rest, sizes: isCounted ? former : former.map((size, wave) => size - leave(wave)) };
  });
  if (known === -1)
    strata.push({ label: held.label, ...(attributes !== undefined && { attributes }), sizes });
  const book = makeLaneBook(true, groups.lanes);
  const upgrades = members.map((upgrade): Upgrade => {
    const timeZone = groups.lanes[upgrade.identity.lane]?.timeZone ?? '';
    const lane = book.laneOf({ timeZone }, stratum, upgrade.identity.domains);
    return { ...upgrade, identity: { ...upgrade.identity, stratum, lane }, rev: upgrade.rev + 1 };
  });
  return {
    groups: { ...groups, strata, lanes: book.lanes },
    rollout: {
      ...rollout,
      heldStrata: rollout.heldStrata.map((each) => (each.label === held.label ? { ...each, stratum } : each)),
      groupsRev: rollout.groupsRev + 1,
      rev: rollout.rev + 1,
    },
    upgrades,
  };
}
