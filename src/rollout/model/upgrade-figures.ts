import type { DurationMs, EpochMs } from '../../base/time.ts';
import type { UpgradeFailureClass } from '../../base/vocabulary.ts';
import type { RolloutEvent } from './events.ts';
import type { StratumSummary } from './rollout.ts';
import {
  isEnd,
  isFailed,
  isRunning,
  reasonOf,
  type Upgrade,
  type UpgradeState,
  type UpgradeTally,
  upgradeStates,
} from './upgrade.ts';
import type { UpgradeReason } from './upgrade-reason.ts';

/** The duration from the last create to the verification, without waits between attempts. */
export function learnedMsOf(before: Upgrade, after: Upgrade): DurationMs | undefined {
  if (before.progress.state !== 'verifying' || after.progress.state !== 'succeeded') return undefined;
  return Math.max(0, Math.round(after.progress.endedAt - before.progress.startedAt));
}

/** The counter of a stratum in which a state is counted; undefined for states that are not counted. */
export function stratumFigureOf(
  state: UpgradeState,
): keyof Pick<StratumSummary, 'waiting' | 'active' | 'succeeded' | 'failed'> | undefined {
  if (state === 'pending' || state === 'retrying') return 'waiting';
  if (isFailed(state)) return 'failed';
  if (state === 'succeeded') return 'succeeded';
  return isRunning(state) ? 'active' : undefined;
}

/**
 * When the state changed, by its event or its end. Undefined if it did not change or the time is unknown, and for a change
 * from an end state: a wave's soak starts at the end of its last upgrade.
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

/** Adds up the counters of the wanted states. */
export function countIn(
  counts: Readonly<Record<UpgradeState, number>>,
  wanted: (state: UpgradeState) => boolean,
): number {
  let sum = 0;
  for (const state of upgradeStates) if (wanted(state)) sum += counts[state];
  return sum;
}

/** When the upgrade ended; null if it has not. */
export function endedAtOf({ progress }: Upgrade): EpochMs | null {
  return 'endedAt' in progress ? progress.endedAt : null;
}

/** The failure class of a failed upgrade, by which `retry` can select; undefined for any other upgrade. */
export function failureClassOf({ progress }: Upgrade): UpgradeFailureClass | undefined {
  return 'failureClass' in progress ? progress.failureClass : undefined;
}

/** The tally of an upgrade that has not started. Shared by all records of a plan, to save memory. */
export const freshTally: UpgradeTally = {
  attempts: 0,
  createsInDoubt: 0,
  unexplained: 0,
  failedPolls: 0,
  firstStartedAt: null,
};

/**
 * The failure of its last attempt, where its state names only what an operator or the rollout did to it afterwards; undefined if
 * there is none.
 */
export function failureBefore(upgrade: Upgrade): UpgradeReason | undefined {
  const kind = reasonOf(upgrade)?.kind;
  if (kind !== 'rolloutOver' && kind !== 'retryAsked') return undefined;
  const failed = (upgrade.tally.tasks ?? []).findLast(
    ({ ended }) => ended !== undefined && (isFailed(ended.state) || ended.state === 'retrying'),
  );
  const reason = failed?.ended?.reason;
  return reason === undefined ? undefined : failureIn(reason);
}

/** The failure itself, without the number of its attempt. */
export function failureIn(reason: UpgradeReason): UpgradeReason {
  return reason.kind === 'attemptsSpent' ? reason.last : reason;
}
