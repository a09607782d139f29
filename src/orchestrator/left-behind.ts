import { total } from '../rollout/gate.ts';
import { type LeftBehind, leftBehind, notBrought } from '../rollout/left-behind.ts';
import type { Rollout, RolloutView } from '../rollout/rollout.ts';
import { isOffered } from '../rollout/target.ts';
import { isFailed, type Upgrade } from '../rollout/upgrade.ts';
import { type ChangeRolloutParts, changeRollout } from './change-rollout.ts';
import { listAllUpgrades } from './list-all-upgrades.ts';
import type { Build, FleetService } from './ports/fleet-service.ts';
import type { RolloutStore } from './ports/rollout-store.ts';
import { claimedByOthers } from './read-plan.ts';

/** Parts those that run the build into who can be taken back, and who can't be, and why. */
export function partUpgraded(
  upgrades: readonly Upgrade[],
  { builds, claimed }: { readonly builds: readonly Build[]; readonly claimed: ReadonlySet<number> },
): { readonly takenBack: readonly Upgrade[]; readonly left: readonly LeftBehind[] } {
  const offered = upgrades.filter(({ fromBuild }) => isOffered(fromBuild, builds));
  const gone = upgrades.filter(({ fromBuild }) => !isOffered(fromBuild, builds));
  const others = offered.filter(({ collectorId }) => claimed.has(collectorId));
  return {
    takenBack: offered.filter(({ collectorId }) => !claimed.has(collectorId)),
    left: [
      ...leftBehind('the service no longer offers the build they had', gone),
      ...leftBehind('another rollout has them', others),
    ],
  };
}

export interface ForeseeParts extends ChangeRolloutParts {
  readonly fleet: FleetService;
  /** Names of all policies of the config. */
  readonly policies: readonly string[];
}

// Who asked for the rollback waits for it; one request, and what is stored.
const foreseeWithinMs = 5_000;

/**
 * Notes who can't be taken back, as soon as the rollback was asked for, from what has been upgraded so far; its plan
 * has the last word. Where the service does not answer soon, nothing is noted.
 */
export async function foreseeLeftBehind(parts: ForeseeParts, rolloutId: string): Promise<void> {
  const builds = await parts.fleet.listBuilds(AbortSignal.timeout(foreseeWithinMs));
  const rollout = await parts.store.loadRollout(rolloutId);
  if (!builds.ok || rollout === undefined) return;
  const upgraded = await listAllUpgrades(parts.store, rolloutId, { state: 'succeeded' });
  const of = { policy: rollout.policy.name, policies: parts.policies };
  const collectors = upgraded.map(({ collectorId: id }) => ({ id }));
  const claimed = await claimedByOthers(parts.store, of, { collectors });
  const { left } = partUpgraded(upgraded, { builds: builds.value, claimed });
  if (left.length === 0) return;
  await changeRollout(parts, rolloutId, 'daemon', ({ rollout: { state, rollbackId } }) =>
    state === 'rollingBack' && rollbackId === null
      ? { kind: 'leftBehindForeseen', at: parts.clock.now(), left }
      : undefined,
  );
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
