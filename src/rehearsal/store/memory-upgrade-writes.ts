import type { RolloutStore, UpgradeChange } from '../../orchestrator/ports/rollout-store.ts';
import { holdsSlot, weightOf } from '../../rollout/model/upgrade.ts';
import { changedAtOf } from '../../rollout/model/upgrade-figures.ts';
import { isSame, type Kept, type MemoryState } from './memory-state.ts';

interface TransitionCall {
  readonly mode: 'save' | 'intent' | 'admit' | 'rejoin';
  readonly rolloutRev?: number | undefined;
  readonly tripAbove?: number | null | undefined;
  /** The guard of a write of many upgrades, checked once for all. */
  readonly isRefused?: boolean;
  readonly hasRoom?: (of: Kept) => boolean;
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
      const of = kept.get(rolloutId);
      if (of === undefined) return [];
      const asTheyWere = new Map(of.upgrades);
      const ids = transitionAll(changes, () => ({ mode: 'rejoin', rolloutRev }));
      if (ids.some((each) => of.upgrades.get(each) !== asTheyWere.get(each))) raiseRev(of);
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
      return transitionAll(changes, ({ tripAbove }) => ({ mode: 'save', tripAbove, isRefused }));
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
  const of = state.kept.get(after.identity.rolloutId);
  const current = of?.upgrades.get(after.identity.collectorId);
  if (of === undefined || current === undefined) return 'stale';
  const isRepeated = call.mode !== 'intent' && isSame(current, after);
  const isOfBefore = current.rev === before.rev && current.progress.state === before.progress.state;
  if (!isRepeated && !isOfBefore) return 'stale';
  if (isRepeated) return 'saved';
  const isRunning = of.rollout.state === 'running' && !of.brake;
  if (call.mode === 'intent' && !isRunning) return 'braked';
  const isAsDecided = call.rolloutRev === undefined || of.rollout.rev === call.rolloutRev;
  if (call.isRefused || !isAsDecided) return 'stale';
  if (call.mode === 'admit' && !(isRunning && call.hasRoom?.(of))) return 'stale';
  state.replaceUpgrade(of, before, after);
  state.noteIntent(of, after, call.mode === 'intent');
  const changedAt = changedAtOf(change);
  if (changedAt !== undefined) of.counts.noteChange(after.identity.wave, changedAt);
  state.addEvents(of, events);
  const isWorse = weightOf(after) > weightOf(before);
  const above = call.tripAbove ?? Number.POSITIVE_INFINITY;
  if (isWorse && !of.brake && of.counts.waveWeight(after.identity.wave) > above) {
    of.brake = true;
    raiseRev(of);
  }
  return 'saved';
}

function raiseRev(of: Kept): void {
  of.rollout = { ...of.rollout, rev: of.rollout.rev + 1 };
}
