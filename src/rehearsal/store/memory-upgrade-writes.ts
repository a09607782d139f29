import type { RolloutStore, UpgradeChange } from '../../orchestrator/ports/rollout-store.ts';
import { holdsSlot, type Upgrade, weightOf } from '../../rollout/model/upgrade.ts';
import { changedAtOf } from '../../rollout/model/upgrade-figures.ts';
import { isSame, type Kept, type MemoryState } from './memory-state.ts';

interface TransitionCall {
  readonly mode: 'save' | 'intent' | 'admit' | 'rejoin';
  readonly rolloutRev?: number | undefined;
  readonly brakeAbove?: number | null | undefined;
  /** The guard of a write of many upgrades, checked once for all. */
  readonly isRefused?: boolean;
  readonly hasRoom?: (stored: Kept) => boolean;
}

/** Changes upgrades in the model of the store. */
export function makeUpgradeWrites(state: MemoryState) {
  const { kept } = state;
  /** @returns the collectors whose change was saved */
  const transitionAll = <Change extends UpgradeChange>(
    changes: readonly Change[],
    callOf: (change: Change) => TransitionCall,
  ): number[] =>
    changes
      .filter((change) => transition(state, change, callOf(change)) === 'saved')
      .map(({ after }) => after.identity.collectorId);

  return {
    rejoin: async (rolloutId, changes, rolloutRev) => {
      const stored = kept.get(rolloutId);
      if (stored === undefined) return [];
      const asTheyWere = new Map(stored.upgrades);
      const ids = transitionAll(changes, () => ({ mode: 'rejoin', rolloutRev }));
      if (ids.some((each) => stored.upgrades.get(each) !== asTheyWere.get(each))) raiseRev(stored);
      return ids;
    },
    admit: async ({ rolloutId, rolloutRev, slots, domains, changes }, fence) => {
      const isRefused = state.isFenced(rolloutId, fence);
      return transitionAll(changes, ({ before, after }) => {
        const more = Number(holdsSlot(after.progress.state)) - Number(holdsSlot(before.progress.state));
        const hasRoom = ({ counts }: Kept) =>
          counts.slotsTaken + more <= slots &&
          after.identity.domains.every(
            (index) => counts.domainTaken(index) + more <= (domains[index]?.cap ?? 0),
          );
        return { mode: 'admit', rolloutRev, isRefused, hasRoom };
      });
    },
    saveUpgrades: async (rolloutId, changes, { rolloutRev, fence = null }) => {
      const isFencedOff = state.isFenced(rolloutId, fence);
      const rev = kept.get(rolloutId)?.rollout.rev;
      const isRefused = isFencedOff || (rolloutRev ?? rev) !== rev;
      return transitionAll(changes, ({ brakeAbove }) => ({ mode: 'save', brakeAbove, isRefused }));
    },
    // Its retries are always those of the records.
    dropStrayRetries: async () => {},
    saveIntent: async (change, rolloutRev) => transition(state, change, { mode: 'intent', rolloutRev }),
  } satisfies Partial<RolloutStore>;
}

/** The same rules in the same order as in Redis, except for commands that were sent twice, which do not occur here. */
function transition(
  state: MemoryState,
  change: UpgradeChange,
  call: TransitionCall,
): 'saved' | 'stale' | 'braked' {
  const { before, after, events } = change;
  const stored = state.kept.get(after.identity.rolloutId);
  const current = stored?.upgrades.get(after.identity.collectorId);
  if (stored === undefined || current === undefined) return 'stale';
  const isRepeated = call.mode !== 'intent' && isSame(current, after);
  const isOfBefore = current.rev === before.rev && current.progress.state === before.progress.state;
  if (!isRepeated && !isOfBefore) return 'stale';
  if (isRepeated) return 'saved';
  const isRunning = stored.rollout.state === 'running' && !stored.brake;
  if (call.mode === 'intent' && !isRunning) return 'braked';
  const isAsDecided = call.rolloutRev === undefined || stored.rollout.rev === call.rolloutRev;
  if (call.isRefused || !isAsDecided) return 'stale';
  if (call.mode === 'admit' && !(isRunning && call.hasRoom?.(stored))) return 'stale';
  state.replaceUpgrade(stored, before, after);
  state.noteIntent(stored, after, call.mode === 'intent');
  if (call.mode === 'intent') usePace(state, stored, after);
  const changedAt = changedAtOf(change);
  if (changedAt !== undefined) stored.counts.noteChange(after.identity.wave, changedAt);
  state.addEvents(stored, events);
  const isWorse = weightOf(after) > weightOf(before);
  const above = call.brakeAbove ?? Number.POSITIVE_INFINITY;
  if (isWorse && !stored.brake && stored.counts.waveWeight(after.identity.wave) > above) {
    stored.brake = true;
    raiseRev(stored);
  }
  return 'saved';
}

function usePace({ now }: MemoryState, { counts }: Kept, { tally: { turnPaceMs } }: Upgrade): void {
  if (turnPaceMs !== undefined) counts.pacedUntil = Math.max(counts.pacedUntil, now()) + turnPaceMs;
}

function raiseRev(stored: Kept): void {
  stored.rollout = { ...stored.rollout, rev: stored.rollout.rev + 1 };
}
