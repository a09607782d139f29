import type { EpochMs } from '../base/time.ts';
import { describeFailure } from '../rollout/failure-classes.ts';
import type { RolloutView } from '../rollout/rollout.ts';
import { assessSoak } from '../rollout/soak.ts';
import type { Upgrade } from '../rollout/upgrade.ts';
import { collectorsPerPage } from '../rollout/watch.ts';
import { type ChangeRolloutParts, changeRollout } from './change-rollout.ts';
import { type ChangeUpgradeParts, recordFacts, type UpgradeNews } from './change-upgrade.ts';
import { listSoaking } from './list-all-upgrades.ts';
import type { Answer } from './ports/answer.ts';
import type { FleetService } from './ports/fleet-service.ts';

export interface SoakLookParts extends ChangeRolloutParts, ChangeUpgradeParts {
  readonly fleet: FleetService;
}

interface Sighting {
  readonly build: string;
  readonly alive: boolean;
  readonly lastSeenAlive: EpochMs | null | undefined;
  readonly serviceAt: EpochMs | null;
}

/**
 * Looks at the upgraded collectors of a wave that soaks, with as few requests as that takes. Those that died or left
 * the build become failures of the wave; then the look itself is noted, so that the soak may end after it (P14).
 */
export async function lookAfterSoak(
  parts: SoakLookParts,
  view: RolloutView,
  wave: number,
  signal: AbortSignal,
): Promise<'done' | 'again'> {
  const { rollout } = view;
  const at = parts.clock.now();
  const upgrades = await listSoaking(parts.store, view, wave);
  const looked = await lookAtAll(parts, rollout.fleetSize, upgrades, signal);
  if (signal.aborted) return 'again';
  let silent = 0;
  if (looked.ok) {
    const regressed: UpgradeNews[] = [];
    for (const upgrade of upgrades) {
      const seen = looked.value.get(upgrade.collectorId);
      // Gone from the fleet altogether: taken away by its owner, which says nothing about the build.
      if (seen === undefined) continue;
      const verdict = assessSoak(upgrade.toBuild, seen, seen.serviceAt);
      if (verdict.kind === 'silent') silent += 1;
      if (verdict.kind !== 'regressed') continue;
      const { lost, reason } = verdict;
      regressed.push({ upgrade, fact: { kind: 'regressed', at: parts.clock.now(), lost, reason } });
    }
    await recordFacts(parts, rollout, regressed, {});
  } else {
    parts.sink.note({
      event: 'look.failed',
      rollout: rollout.id,
      reason: `after the soak of ${rollout.waves[wave]?.name ?? ''}: ${describeFailure(looked.failure)}`,
    });
  }
  await changeRollout(parts, rollout.id, 'daemon', (current) => {
    const standing = current.rollout.waves[wave];
    if (current.rollout.state !== 'running' || standing?.state !== 'soaking') return undefined;
    const misses = looked.ok ? 0 : (standing.soakCheck?.misses ?? 0) + 1;
    return { kind: 'soakLooked', at: parts.clock.now(), wave, check: { at, silent, misses } };
  });
  return 'done';
}

async function lookAtAll(
  { fleet }: SoakLookParts,
  fleetSize: number,
  upgrades: readonly Upgrade[],
  signal: AbortSignal,
): Promise<Answer<ReadonlyMap<number, Sighting>>> {
  const pages = Math.ceil(fleetSize / collectorsPerPage);
  const sightings = new Map<number, Sighting>();
  if (upgrades.length > pages) {
    const inventory = await fleet.readInventory(null, signal);
    if (!inventory.ok) return inventory;
    const { serviceAt, collectors } = inventory.value;
    for (const { id, build, alive, lastSeenAlive } of collectors)
      sightings.set(id, { build, alive, lastSeenAlive, serviceAt });
    return { ok: true, value: sightings };
  }
  for (const { collectorId } of upgrades) {
    const look = { collectorId, upgradableTo: null, urgent: false };
    const answer = await fleet.lookAtCollector(look, signal);
    if (answer.ok) sightings.set(collectorId, answer.value);
    else if (answer.failure.kind !== 'notFound') return answer;
  }
  return { ok: true, value: sightings };
}
