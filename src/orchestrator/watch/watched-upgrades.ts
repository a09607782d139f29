import type { EpochMs } from '../../base/time.ts';
import { expectEnds, type RunningUpgrade } from '../../rollout/model/expected-ends.ts';
import type { Rollout, RolloutView } from '../../rollout/model/rollout.ts';
import type { Upgrade } from '../../rollout/model/upgrade.ts';
import {
  leavingMany,
  type RunningTasks,
  type WatchedRollout,
} from '../../rollout/readings/reading-period.ts';
import { isWatched } from '../../rollout/upgrade/evolve.ts';
import type { Accounts } from '../ports/accounts.ts';
import type { RolloutStore } from '../ports/rollout-store.ts';

export interface WatchedUpgrade {
  readonly rollout: Rollout;
  readonly upgrade: Upgrade;
}

/** Everything that is watched at one instant. */
export interface Watched {
  readonly rollouts: readonly Rollout[];
  readonly byCollector: ReadonlyMap<number, readonly WatchedUpgrade[]>;
  readonly loads: readonly WatchedRollout[];
}

// The maximum of watched upgrades, the earliest due first. Further upgrades are polled one by one.
const upgradesMax = 5_000;

/** Lists the upgrades of all running rollouts that have a due instant, and how many there are to watch. */
export async function listWatched(
  {
    store,
    policies,
    accounts,
  }: {
    readonly store: Pick<RolloutStore, 'activeRolloutIds' | 'loadView' | 'listDue'>;
    readonly policies: () => readonly string[];
    readonly accounts: Pick<Accounts, 'statusOf'>;
  },
  now: EpochMs,
): Promise<Watched> {
  const byCollector = new Map<number, WatchedUpgrade[]>();
  const loads: WatchedRollout[] = [];
  const rollouts: Rollout[] = [];
  for (const rolloutId of await store.activeRolloutIds(policies())) {
    const view = await store.loadView(rolloutId, { now, overdueBefore: 0, pageSize: 1 });
    if (view === undefined || view.rollout.unreadable?.kind === 'newer') continue;
    const { rollout } = view;
    // In this account their ids belong to other collectors.
    if ((await accounts.statusOf(rollout)).kind !== 'own') continue;
    rollouts.push(rollout);
    const upgrades = await store.listDue(rolloutId, upgradesMax);
    for (const upgrade of upgrades) {
      const others = byCollector.get(upgrade.identity.collectorId) ?? [];
      byCollector.set(upgrade.identity.collectorId, [...others, { rollout, upgrade }]);
    }
    loads.push(loadOf(view, upgrades, now));
  }
  return { rollouts, byCollector, loads };
}

function loadOf(
  {
    rollout,
    waves,
    candidates,
    durations,
  }: Pick<RolloutView, 'rollout' | 'waves' | 'candidates' | 'durations'>,
  upgrades: readonly Upgrade[],
  now: EpochMs,
): WatchedRollout {
  const { expectMs, deadlineMs } = rollout.policy.upgrade;
  const tasks: Array<RunningUpgrade & { readonly toBuild: string }> = [];
  let queued = 0;
  let verifying = 0;
  for (const { identity, progress } of upgrades.filter(isWatched)) {
    if (progress.state === 'upgrading') tasks.push({ ...identity, ageMs: now - progress.startedAt });
    else if (progress.state !== 'queued') verifying += 1;
    // A due upgrade uses the newest row when it gets its place in the rate.
    else if (progress.dueAt > now) queued += 1;
  }
  const { usualMs, endsPerMs } = expectEnds({ running: tasks, durations, expectMs });
  const running = new Map<string, RunningTasks>();
  for (const [index, { toBuild }] of tasks.entries()) {
    const before = running.get(toBuild) ?? { count: 0, endsPerMs: 0 };
    running.set(toBuild, {
      count: before.count + 1,
      endsPerMs: before.endsPerMs + (endsPerMs[index] ?? 0),
    });
  }
  const leaving = upgrades.filter(({ progress: { state } }) => state === 'queued').length;
  const isAnyWaiting = candidates.some(({ retries, pending }) => retries.length + pending.length > 0);
  return {
    ...{ running, queued, leaving, verifying },
    hasFailures:
      waves.some(({ weight, counts }) => weight > 0 || counts.retrying > 0) ||
      upgrades.some(({ tally }) => tally.attempts > 1),
    isSlotAwaited: isAnyWaiting && leaving < leavingMany,
    fleetSize: rollout.plan.fleetSize,
    usualMs: Math.min(usualMs, deadlineMs),
  };
}
