import { total } from '../rollout/gate.ts';
import { type LeftBehind, leftBehind, notBrought } from '../rollout/left-behind.ts';
import type { Rollout, RolloutView } from '../rollout/rollout.ts';
import { isOffered } from '../rollout/target.ts';
import { isFailed, type Upgrade } from '../rollout/upgrade.ts';
import type { ViewParts } from './load-view.ts';
import type { Build } from './ports/fleet-service.ts';
import type { RolloutStore } from './ports/rollout-store.ts';
import { claimedByOthers } from './read-plan.ts';

interface PartingParts extends Pick<ViewParts, 'store' | 'register'> {
  /** Names of all policies of the config. */
  readonly policies: readonly string[];
}

/**
 * Parts upgraded collectors into those that can be taken back, and those that can't be, and why: the same for the preview
 * of a rollback and for its plan.
 * @param of the policy that upgraded them, and the builds on offer
 */
export async function partUpgraded(
  { store, register, policies }: PartingParts,
  upgrades: readonly Upgrade[],
  of: { readonly policy: string; readonly builds: readonly Build[] },
): Promise<{ readonly takenBack: readonly Upgrade[]; readonly left: readonly LeftBehind[] }> {
  const ids = upgrades.map(({ collectorId }) => collectorId);
  const collectors = ids.map((id) => ({ id }));
  const claimed = await claimedByOthers(store, { policy: of.policy, policies }, { collectors });
  const held = new Set((await register.holdsOf(ids)).map(({ collectorId }) => collectorId));
  const staying = (upgrade: Upgrade): string | undefined => {
    if (!isOffered(upgrade.fromBuild, of.builds)) return 'the service no longer offers the build they had';
    if (claimed.has(upgrade.collectorId)) return 'another rollout has them';
    return held.has(upgrade.collectorId) ? 'an operator holds them' : undefined;
  };
  const takenBack: Upgrade[] = [];
  const left = new Map<string, Upgrade[]>();
  for (const upgrade of upgrades) {
    const why = staying(upgrade);
    const some = why === undefined ? takenBack : (left.get(why) ?? []);
    some.push(upgrade);
    if (why !== undefined) left.set(why, some);
  }
  return { takenBack, left: [...left].flatMap(([why, some]) => leftBehind(why, some)) };
}

/** Whom an ended rollback has not taken back: whom its plan left out, and what ended in it without success. */
export async function leftBehindBy(
  store: RolloutStore,
  counted: Pick<RolloutView, 'rollout' | 'waves'>,
): Promise<Rollout['leftBehind']> {
  const { rollout } = counted;
  const [failed, withdrawn] = await Promise.all(
    (['failed', 'withdrawn'] as const).map((kind) => store.listMissed(rollout.id, { kind, limit: 3 })),
  );
  return [
    ...rollout.leftBehind,
    ...notBrought(`failed in ${rollout.id}`, total(counted, isFailed), failed ?? []),
    ...notBrought(
      `left ${rollout.id} before their turn`,
      total(counted, (state) => state === 'withdrawn'),
      withdrawn ?? [],
    ),
  ];
}
