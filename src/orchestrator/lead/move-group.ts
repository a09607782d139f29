import { membersWith } from '../../rollout/model/attributes.ts';
import type { PlanGroups } from '../../rollout/model/plan-groups.ts';
import type { HeldStratum, RolloutView } from '../../rollout/model/rollout.ts';
import { splitGroup } from '../../rollout/planning/split-group.ts';
import type { Fence } from '../ports/leader.ts';
import type { UpgradeChange } from '../ports/rollout-store.ts';
import { type ChangeRolloutParts, changeRollout } from '../records/change-rollout.ts';
import { changesPerWrite } from '../records/change-upgrade.ts';

// Records of running upgrades change meanwhile. Nothing starts, so fewer of them change in each round.
const roundsMax = 10;

/**
 * Moves the collectors of a held group to their own stratum. Level-triggered: if records have changed, or another leader
 * has followed, the next decision requests it again. While the attributes are unreadable nothing starts, because the
 * members of the group are unknown (P14).
 */
export async function moveGroup(
  parts: ChangeRolloutParts,
  { rollout, groups }: RolloutView,
  { label, fence }: { readonly label: string; readonly fence: Fence },
  signal: AbortSignal,
): Promise<'done' | 'again'> {
  const { store } = parts;
  const held = rollout.strata.held.find((each) => each.label === label);
  if (held?.attributes === undefined) return 'done';
  const table = await store.loadAttributes(rollout.id);
  if (table === undefined) return 'again';
  const ids = membersWith(table, held.attributes);
  const others = otherGroups(rollout.strata.held, label);
  let now: Pick<RolloutView, 'rollout' | 'groups'> = { rollout, groups };
  for (let round = 0; round < roundsMax && !signal.aborted; round += 1) {
    const { upgrades } = await store.loadUpgrades(rollout.id, ids);
    const members = upgrades.filter(({ identity }) => !others.has(identity.stratum));
    const split = splitGroup(now.rollout, now.groups, { held, members });
    if (!isSame(split.groups, now.groups)) {
      const joined = { rollout: split.rollout, groups: split.groups, upgrades: [], events: [] };
      if ((await store.join(joined, now.rollout.rev, fence)) !== 'saved') return 'again';
      now = joined;
    }
    const changes = split.upgrades.flatMap((after, index): readonly UpgradeChange[] => {
      const before = members[index];
      const isMoved = before === undefined || before.identity.stratum === after.identity.stratum;
      return isMoved ? [] : [{ before, after, events: [] }];
    });
    if (changes.length === 0) return finish(parts, rollout.id, label);
    for (let from = 0; from < changes.length; from += changesPerWrite) {
      const some = changes.slice(from, from + changesPerWrite);
      const saves = some.map((change) => ({ ...change, brakeAbove: null }));
      await store.saveUpgrades(rollout.id, saves, { fence });
    }
  }
  return 'again';
}

async function finish(parts: ChangeRolloutParts, rolloutId: string, label: string): Promise<'done'> {
  await changeRollout(parts, rolloutId, 'daemon', (view) =>
    view.rollout.strata.held.some((each) => each.label === label && each.unmoved === true)
      ? { kind: 'groupMoved', at: parts.clock.now(), label, view }
      : undefined,
  );
  return 'done';
}

/** Strata of other held groups. Their members stay there. */
function otherGroups(heldStrata: readonly HeldStratum[], label: string): ReadonlySet<number> {
  return new Set(
    heldStrata.flatMap((each) =>
      each.attributes === undefined || each.label === label ? [] : [each.stratum],
    ),
  );
}

function isSame(a: PlanGroups, b: PlanGroups): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
