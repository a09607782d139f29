import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { UpgradeFailureClass } from '../../base/vocabulary.ts';
import type { RolloutEvent } from './events.ts';
import type { StratumSummary } from './rollout.ts';
import {
  isEnd,
  isFailed,
  isRunning,
  type Upgrade,
  type UpgradeState,
  type UpgradeTally,
  upgradeStates,
} from './upgrade.ts';

/** From the last create to the verification, because waits between attempts are no part of an upgrade's duration. */
export function learnedMsOf(before: Upgrade, after: Upgrade): DurationMs | undefined {
  if (before.progress.state !== 'verifying' || after.progress.state !== 'succeeded') return undefined;
  return Math.max(0, Math.round(after.progress.endedAt - before.progress.startedAt));
}

/** The figure of a stratum that counts a state; absent for states that neither wait, nor run, nor show the build's quality. */
export function stratumFigureOf(
  state: UpgradeState,
): keyof Pick<StratumSummary, 'waiting' | 'active' | 'succeeded' | 'failed'> | undefined {
  if (state === 'pending' || state === 'retrying') return 'waiting';
  if (isFailed(state)) return 'failed';
  if (state === 'succeeded') return 'succeeded';
  return isRunning(state) ? 'active' : undefined;
}

/**
 * When the state changed: its event knows, and an end knows without one. undefined: it did not, or nobody knows, or an
 * end was left again: a wave's soak runs from the end of its last upgrade.
 */
export function changedAtOf({
  before,
  after,
  events,
}: {
  readonly before: Upgrade;
  readonly after: Upgrade;
  readonly events: readonly RolloutEvent[];
}): EpochMs | undefined {
  if (before.progress.state === after.progress.state || isEnd(before.progress.state)) return undefined;
  const instants = events.map(({ at }) => at);
  if ('endedAt' in after.progress) instants.push(after.progress.endedAt);
  return instants.length === 0 ? undefined : Math.max(...instants);
}

/** How many upgrades are in such states. */
export function countIn(
  counts: Readonly<Record<UpgradeState, number>>,
  wanted: (state: UpgradeState) => boolean,
): number {
  let sum = 0;
  for (const state of upgradeStates) if (wanted(state)) sum += counts[state];
  return sum;
}

/** When it ended; null while it has not. */
export function endedAtOf({ progress }: Upgrade): EpochMs | null {
  return 'endedAt' in progress ? progress.endedAt : null;
}

/** For a failure: what `retry` may choose by; undefined for any other upgrade. */
export function failureClassOf({ progress }: Upgrade): UpgradeFailureClass | undefined {
  return 'failureClass' in progress ? progress.failureClass : undefined;
}

/** What is counted of an upgrade before anything of it has happened: one for all records of a plan. */
export const freshTally: UpgradeTally = {
  attempts: 0,
  createsInDoubt: 0,
  unexplained: 0,
  failedPolls: 0,
  firstStartedAt: null,
};
