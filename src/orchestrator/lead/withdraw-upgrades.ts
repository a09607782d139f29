import type { Rollout } from '../../rollout/model/rollout.ts';
import { runningStates, type UpgradeState, waitingStates } from '../../rollout/model/upgrade.ts';
import type { UpgradeReason } from '../../rollout/model/upgrade-reason.ts';
import type { Fence } from '../ports/leader.ts';
import type { ChangeRolloutParts } from '../records/change-rollout.ts';
import { type ChangeUpgradeParts, recordFacts } from '../records/change-upgrade.ts';
import { listAllUpgrades } from '../records/read-records.ts';

type EndParts = ChangeRolloutParts & ChangeUpgradeParts;

interface Ending {
  readonly reason: UpgradeReason;
  /** Of the leader that decided it; left out where a person did, whatever has changed since. */
  readonly fence?: Fence;
}

/**
 * Ends every upgrade of a rollout that has not started; one that runs is watched to its end. Level-triggered: nothing is
 * withdrawn of a rollout that has changed since it was decided, nor for a leader that was followed by another, and
 * the next decision asks for what was left.
 */
export function withdrawWaiting(
  parts: EndParts,
  rollout: Rollout,
  ending: Ending,
  signal: AbortSignal,
): Promise<'done'> {
  return endAll(parts, rollout, { ...ending, kind: 'withdrawn', states: waitingStates }, signal);
}

/** Ends in the same way every upgrade that may have run, and is not watched. */
export function abandonRunning(
  parts: EndParts,
  rollout: Rollout,
  ending: Ending,
  signal?: AbortSignal,
): Promise<'done'> {
  return endAll(parts, rollout, { ...ending, kind: 'abandoned', states: runningStates }, signal);
}

async function endAll(
  parts: EndParts,
  rollout: Rollout,
  of: Ending & { readonly kind: 'withdrawn' | 'abandoned'; readonly states: readonly UpgradeState[] },
  signal?: AbortSignal,
): Promise<'done'> {
  const { kind, reason, fence } = of;
  const guard = fence === undefined ? {} : { rolloutRev: rollout.rev, fence };
  for (const state of of.states) {
    if (signal?.aborted === true) break;
    const upgrades = await listAllUpgrades(parts.store, rollout.id, { state });
    const at = parts.clock.now();
    const findings = upgrades.map((upgrade) => ({ upgrade, fact: { kind, at, reason } }));
    await recordFacts(parts, rollout, findings, guard, signal);
  }
  return 'done';
}
