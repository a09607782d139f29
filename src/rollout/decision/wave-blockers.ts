import type { EpochMs } from '../../base/time.ts';
import type { RolloutView } from '../model/rollout.ts';
import type { HoldCause } from '../model/stop-cause.ts';
import { endStates, isEnd, type UpgradeState } from '../model/upgrade.ts';
import { type AssessedView, type AssessedWave, countUpgradesIn, hasBegun } from './assess.ts';
import type { Blocker, WaveWaits } from './blocker.ts';

/** How many deferred collectors a view has: enough to name some, and to know the maximum of most waits. */
export const deferredSeenMax = 10;

/** Why a wave without an upgraded collector waits, and the latest end of the wait (`defer.upTo`). */
export function deferredBlocker(view: RolloutView, wave: AssessedWave): Blocker {
  const known = knownDeferred(view, wave).map(({ identity, progress: { reason } }) => ({
    name: identity.collectorName,
    reason,
  }));
  const upgrades = wave.summary.counts.deferred;
  return { kind: 'deferred', wave: wave.wave.name, upgrades, known, until: deferredUntil(view, wave) };
}

/**
 * The latest instant at which the last deferred collector of a wave is given up; null if the wave has none. If not all of
 * them are known, the last one was deferred at the wave's last change or earlier.
 */
export function deferredUntil(view: RolloutView, wave: AssessedWave): EpochMs | null {
  const { counts, lastChangeAt } = wave.summary;
  const { upToMs } = view.rollout.policy.defer;
  const known = knownDeferred(view, wave);
  if (counts.deferred === 0) return null;
  if (known.length === counts.deferred)
    return Math.max(...known.map(({ progress: { since } }) => since)) + upToMs;
  return lastChangeAt === null ? null : lastChangeAt + upToMs;
}

/** The latest instant at which the last deferred collector of the rollout is given up; null if unknown. */
export function lastDeferredUntil(view: AssessedView): EpochMs | null {
  const ends = view.assessed.flatMap((wave) => deferredUntil(view, wave) ?? []);
  return ends.length === 0 ? null : Math.max(...ends);
}

/** True while a running rollout starts nothing, and waits only for deferred collectors. */
export function awaitsDeferredAlone({ rollout, waves }: RolloutView): boolean {
  if (rollout.state !== 'running') return false;
  const current = rollout.waves.findIndex(({ state }) => state !== 'passed');
  const begun = { waves: current < 0 ? waves : waves.slice(0, current + 1) };
  return (
    countUpgradesIn(begun, (state) => state === 'deferred') > 0 &&
    countUpgradesIn(begun, (state) => !isIdle(state)) === 0
  );
}

/** Why a wave is held when none of its collectors can be upgraded any more. */
export function noEvidence({ wave, summary, assessment: { setAside } }: AssessedWave): HoldCause {
  const all = endStates.map((state) => ({ state, upgrades: summary.counts[state] }));
  const ended = all.filter(({ upgrades }) => upgrades > 0);
  return { kind: 'noEvidence', wave: wave.name, ended, ...(setAside > 0 && { setAside }) };
}

/** Why a wave has not started; null when it has started, or nothing blocks it. */
export function waveWaits({ rollout }: RolloutView, { index, wave, rule }: AssessedWave): WaveWaits | null {
  if (hasBegun(wave)) return null;
  const before = rollout.waves.slice(0, index).find(({ state }) => state !== 'passed');
  const approval = rule.approval && wave.approvedAt === null;
  return before === undefined && !approval ? null : { gateOf: before?.name ?? null, approval };
}

function isIdle(state: UpgradeState): boolean {
  return isEnd(state) || state === 'deferred';
}

function knownDeferred({ deferred = [] }: RolloutView, { index }: AssessedWave) {
  return deferred.filter(({ identity: { wave } }) => wave === index);
}
