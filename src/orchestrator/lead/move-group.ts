import { findUnmoved } from '../../rollout/decision/outlier-group.ts';
import { membersWith } from '../../rollout/model/attributes.ts';
import type { HeldStratum, RolloutView } from '../../rollout/model/rollout.ts';
import { splitGroup } from '../../rollout/planning/split-group.ts';
import type { Fence } from '../ports/leader.ts';
import { type ChangeRolloutParts, changeRollout } from '../records/change-rollout.ts';

// One write of so many keeps Redis from others for some 20 ms.
const changesPerWrite = 500;

/**
 * Moves the collectors of a held group to a stratum of their own. Level-triggered: what was not moved, because its record
 * changed meanwhile or another leader followed, the next decision asks for again.
 */
export async function moveGroup(
  parts: ChangeRolloutParts,
  { rollout, groups }: RolloutView,
  { label, fence }: { readonly label: string; readonly fence: Fence },
  signal: AbortSignal,
): Promise<'done' | 'again'> {
  const { store } = parts;
  const held = rollout.heldStrata.find((each) => each.label === label);
  const table = await store.loadAttributes(rollout.id);
  const ids =
    held?.attributes === undefined || table === undefined ? [] : membersWith(table, held.attributes);
  const loaded = await store.loadUpgrades(rollout.id, ids);
  const others = otherGroups(rollout.heldStrata, label);
  const members = loaded.upgrades.filter(({ identity }) => !others.has(identity.stratum));
  if (held !== undefined && members.some(({ identity }) => identity.stratum !== held.stratum)) {
    const split = splitGroup(rollout, groups, { held, members });
    const saved = await store.join({ ...split, upgrades: [], events: [] }, rollout.rev, fence);
    if (saved !== 'saved') return 'again';
    const changes = split.upgrades
      .map((after, index) => ({ before: members[index] ?? after, after, events: [], tripAbove: null }))
      .filter(({ before, after }) => before.identity.stratum !== after.identity.stratum);
    for (let from = 0; from < changes.length; from += changesPerWrite) {
      if (signal.aborted) return 'again';
      const some = changes.slice(from, from + changesPerWrite);
      const moved = await store.saveUpgrades(rollout.id, some, { fence });
      if (moved.length < some.length) return 'again';
    }
  }
  await changeRollout(parts, rollout.id, 'daemon', (view) => {
    // Who came meanwhile may belong to it as well.
    const isAsMoved = view.rollout.heldStrata.some((each) => each.label === label && each.unmoved === true);
    return isAsMoved && findUnmoved(view) !== undefined
      ? { kind: 'groupMoved', at: parts.clock.now(), label, view }
      : undefined;
  });
  return 'done';
}

/** Strata of other groups that are held: whoever is in one of them stays there. */
function otherGroups(heldStrata: readonly HeldStratum[], label: string): ReadonlySet<number> {
  return new Set(
    heldStrata.flatMap((each) =>
      each.attributes === undefined || each.label === label ? [] : [each.stratum],
    ),
  );
}
