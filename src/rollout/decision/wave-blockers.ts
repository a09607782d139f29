import { someNames } from '../../base/names.ts';
import type { EpochMs } from '../../base/time.ts';
import type { RolloutView, Wave, WaveSummary } from '../model/rollout.ts';
import { endStates, isEnd, stateWords, type UpgradeState } from '../model/upgrade.ts';
import type { Hold } from './blocker.ts';
import { total } from './failure-limits.ts';

/** Deferred collectors read for a view: enough to name some, and to know of most waits how long they last at most. */
export const deferredSeenMax = 10;

/** Why a wave without an upgraded collector waits, and until when at the latest (`defer.upTo`). */
export function awaitsDeferred(view: RolloutView, index: number): Hold {
  const name = view.rollout.waves[index]?.name ?? '';
  const count = view.waves[index]?.counts.deferred ?? 0;
  const known = knownDeferred(view, index);
  const names = known.map(
    ({ identity: { collectorName }, progress: { reason } }) => `${collectorName} (${reason})`,
  );
  const who = known.length === count ? someNames(names) : names.slice(0, 1).join('');
  const words = `wave ${name} waits for ${deferredWords(count)}${who === '' ? '' : `: ${who}`}`;
  return { reason: `${words}; no collector of it is upgraded yet`, until: deferredUntil(view, index) };
}

/**
 * When the last deferred collector of a wave is given up at the latest; null when the wave has none. Where not all of them
 * are known, the last of them was deferred at the wave's last change or earlier.
 */
export function deferredUntil(view: RolloutView, index: number): EpochMs | null {
  const { counts, lastChangeAt } = view.waves[index] ?? { counts: { deferred: 0 }, lastChangeAt: null };
  const { upToMs } = view.rollout.policy.defer;
  const known = knownDeferred(view, index);
  if (counts.deferred === 0) return null;
  if (known.length === counts.deferred)
    return Math.max(...known.map(({ progress: { since } }) => since)) + upToMs;
  return lastChangeAt === null ? null : lastChangeAt + upToMs;
}

/** True while a running rollout starts nothing, and waits for deferred collectors alone. */
export function awaitsDeferredAlone({ rollout, waves }: RolloutView): boolean {
  if (rollout.state !== 'running') return false;
  const current = rollout.waves.findIndex(({ state }) => state !== 'passed');
  const begun = { waves: current < 0 ? waves : waves.slice(0, current + 1) };
  return total(begun, (state) => state === 'deferred') > 0 && total(begun, (state) => !isIdle(state)) === 0;
}

/** Why a wave is held of which no collector can be upgraded any more, and what to do. */
export function noEvidenceWords(view: RolloutView, index: number): string {
  const name = view.rollout.waves[index]?.name ?? '';
  const ends = endWords(view.waves[index]);
  const found = `wave ${name} brought no evidence: no collector of it was upgraded${ends}`;
  return `${found}; it continues by itself once one of them is upgraded; resume to continue without evidence, or abort`;
}

/** `2 deferred collectors` */
export function deferredWords(count: number): string {
  return count === 1 ? '1 deferred collector' : `${count} deferred collectors`;
}

function endWords(summary: WaveSummary | undefined): string {
  const ends = endStates.flatMap((state) => {
    const count = summary?.counts[state] ?? 0;
    return count === 0 ? [] : [`${count} ${stateWords(state)}`];
  });
  return ends.length === 0 ? '' : ` (${ends.join(', ')})`;
}

function isIdle(state: UpgradeState): boolean {
  return isEnd(state) || state === 'deferred';
}

function knownDeferred({ deferred = [] }: RolloutView, index: number) {
  return deferred.filter(({ identity: { wave } }) => wave === index);
}

/** What a wave that has not begun waits for; null when it has begun, or nothing stands before it. */
export function waveWaits(view: RolloutView, index: number): string | null {
  const { waves, policy } = view.rollout;
  const wave = waves[index];
  if (wave?.state !== 'waiting' && wave?.state !== 'awaitingApproval') return null;
  const before = waves.slice(0, index).find(({ state }) => state !== 'passed');
  const words = [
    before === undefined ? '' : `gate of ${before.name}`,
    policy.waves[index]?.approval === true && wave.approvedAt === null ? 'approval' : '',
  ].filter((part) => part !== '');
  return words.length === 0 ? null : words.join(', ');
}

/** Said of a wave while its soak runs. */
export function soakWords({ name }: Pick<Wave, 'name'>): string {
  return `wave ${name} soaks`;
}
