import type { PlanGroups, Stratum } from '../model/plan-groups.ts';
import type { HeldStratum, Rollout } from '../model/rollout.ts';
import type { Upgrade } from '../model/upgrade.ts';
import { makeLaneIndex } from './group-collectors.ts';

/** A group held because of an attribute its collectors share, with its upgrades. */
export interface HeldGroup {
  readonly held: HeldStratum;
  readonly members: readonly Upgrade[];
}

/**
 * Moves a held group into its own stratum, with lanes like the former lanes of its members. Idempotent: members that are
 * already counted in the new stratum are not subtracted from their former strata again.
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
  const laneIndex = makeLaneIndex(true, groups.lanes);
  const upgrades = members.map((upgrade): Upgrade => {
    const timeZone = groups.lanes[upgrade.identity.lane]?.timeZone ?? '';
    const lane = laneIndex.laneOf({ timeZone }, stratum, upgrade.identity.domains);
    return { ...upgrade, identity: { ...upgrade.identity, stratum, lane }, rev: upgrade.rev + 1 };
  });
  return {
    groups: { ...groups, strata, lanes: laneIndex.lanes },
    rollout: {
      ...rollout,
      strata: {
        ...rollout.strata,
        held: rollout.strata.held.map((each) => (each.label === held.label ? { ...each, stratum } : each)),
      },
      plan: { ...rollout.plan, groupsRev: rollout.plan.groupsRev + 1 },
      rev: rollout.rev + 1,
    },
    upgrades,
  };
}
